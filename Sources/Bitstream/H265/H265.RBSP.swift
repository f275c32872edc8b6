extension RBSPReader {
    /// The header of an H.265 NAL unit, and a reader after it.
    ///
    /// - Throws: if the unit is shorter than its header, of a type that is not expected, or of another layer
    ///   than the base layer: this module reads only the base layer's syntax.
    static func hevc(
        _ nalUnit: UnsafeRawBufferPointer, expecting isExpected: (H265.NALUnitType) -> Bool
    ) throws(SyntaxError) -> (H265.NALUnitHeader, RBSPReader) {
        guard let header = H265.NALUnitHeader(of: nalUnit.bytes) else {
            throw SyntaxError(element: "nal_unit_header", reason: .truncated, bitOffset: 0)
        }
        let type = header.nal_unit_type
        guard isExpected(type) else {
            throw SyntaxError(
                element: "nal_unit_type", reason: .unexpectedType(type.rawValue), bitOffset: 1)
        }
        guard header.nuh_layer_id == 0 else {
            throw SyntaxError(
                element: "nuh_layer_id", reason: .outOfRange(value: header.nuh_layer_id, allowed: 0...0),
                bitOffset: 7)
        }
        return (header, RBSPReader(nalUnit, headerLength: H265.NALUnitHeader.byteCount))
    }
}
