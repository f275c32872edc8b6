extension H264 {
    /// The ids at the start of a parameter set, which is all that caching one takes.
    struct ParameterSetIDs {
        /// Sequence or picture parameter set.
        let type: NALUnitType
        /// The set's own id.
        let id: Int
        /// The id of the sequence parameter set that it is or refers to.
        let sequenceParameterSetID: Int

        /// Reads the ids of a parameter set NAL unit (type 7 or 8), given without start code. Allocates
        /// nothing.
        init(_ nalUnit: RawSpan) throws(SyntaxError) {
            self = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                let (header, reader) = try RBSPReader.h264(bytes) { $0.isParameterSet }
                return try ParameterSetIDs(header.nal_unit_type, reader)
            }
        }

        private init(_ type: NALUnitType, _ start: RBSPReader) throws(SyntaxError) {
            var reader = start
            self.type = type
            if type == .sequenceParameterSet {
                _ = try reader.u(24, "profile_idc, constraint flags, level_idc")
                sequenceParameterSetID = try reader.ue("seq_parameter_set_id", in: 0...31)
                id = sequenceParameterSetID
            } else {
                id = try reader.ue("pic_parameter_set_id", in: 0...255)
                sequenceParameterSetID = try reader.ue("seq_parameter_set_id", in: 0...31)
            }
        }
    }
}
