extension RBSPReader {
    /// The header of an H.264 NAL unit, and a reader after it.
    ///
    /// - Throws: if the unit is empty, or of a type that is not expected.
    static func h264(
        _ nalUnit: UnsafeRawBufferPointer, expecting isExpected: (H264.NALUnitType) -> Bool
    ) throws(SyntaxError) -> (H264.NALUnitHeader, RBSPReader) {
        guard let first = nalUnit.first else {
            throw SyntaxError(element: "nal_unit_header", reason: .truncated, bitOffset: 0)
        }
        let header = H264.NALUnitHeader(byte: first)
        let type = header.nal_unit_type
        guard isExpected(type) else {
            throw SyntaxError(
                element: "nal_unit_type", reason: .unexpectedType(type.rawValue), bitOffset: 3)
        }
        return (header, RBSPReader(nalUnit, headerLength: 1))
    }
}
