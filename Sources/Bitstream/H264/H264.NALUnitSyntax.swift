extension H264 {
    /// nal_unit() (7.3.1) with the understood part of its content, for a reader at its first byte.
    static func readNALUnit(
        _ reader: inout RBSPReader, _ sets: StreamParameterSets
    ) throws(SyntaxError) {
        _ = try reader.flag("forbidden_zero_bit")
        _ = try reader.u(2, "nal_ref_idc")
        let type = NALUnitType(headerByte: UInt8(try reader.u(5, "nal_unit_type")))
        switch type {
        case .nonIDRSlice, .sliceDataPartitionA, .idrSlice, .auxiliarySlice:
            _ = try SliceHeader(&reader, isIDR: type == .idrSlice) {
                sets.h264.inForce(pic_parameter_set_id: $0)
            }
        case .sequenceParameterSet, .subsetSequenceParameterSet:
            try ParameterSets.checkSize(reader.byteCount)
            _ = try SequenceParameterSet(&reader)
        case .pictureParameterSet:
            try ParameterSets.checkSize(reader.byteCount)
            _ = try PictureParameterSet(&reader) { sets.h264.sequence[$0] }
        case .supplementalEnhancementInformation:
            try SupplementalEnhancementInformation.readElements(&reader, sets)
        case .sequenceParameterSetExtension: _ = try SequenceParameterSetExtension(&reader)
        case .accessUnitDelimiter: _ = try reader.u(3, "primary_pic_type")
        case .sliceDataPartitionB, .sliceDataPartitionC: _ = try reader.ue("slice_id")
        case .prefix, .sliceExtension, .depthSliceExtension:
            try readNALUnitHeaderExtension(&reader, type)
        default: break
        }
    }
}
