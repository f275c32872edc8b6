extension H265 {
    /// nal_unit() (7.3.1.1) with the understood part of its content, for a reader at its first byte.
    static func readNALUnit(
        _ reader: inout RBSPReader, _ sets: StreamParameterSets
    ) throws(SyntaxError) {
        _ = try reader.flag("forbidden_zero_bit")
        let type = NALUnitType(headerByte: UInt8(try reader.u(6, "nal_unit_type") << 1))
        let layer = try reader.u(6, "nuh_layer_id")
        _ = try reader.u(3, "nuh_temporal_id_plus1")
        reader.endHeader()
        // Other layers have their own syntax (Annex F).
        guard layer == 0 else { return }
        if type.isParameterSet { try ParameterSets.checkSize(reader.byteCount) }
        switch type {
        case .videoParameterSet: _ = try VideoParameterSet(&reader)
        case .sequenceParameterSet: _ = try SequenceParameterSet(&reader)
        case .pictureParameterSet: _ = try PictureParameterSet(&reader)
        case .prefixSEI, .suffixSEI: try SupplementalEnhancementInformation.readElements(&reader, sets)
        case .accessUnitDelimiter: _ = try reader.u(3, "pic_type")
        case _ where type.isSliceSegment:
            _ = try SliceHeader(&reader, type: type) {
                sets.hevc.inForce(slice_pic_parameter_set_id: $0)
            }
        default: break
        }
    }
}
