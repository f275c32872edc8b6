extension H265 {
    /// The parsed parameter sets of the base layer in force, by their ids.
    public struct ParameterSetsByID: Equatable, Sendable {
        /// By `vps_video_parameter_set_id`, 0 to 15.
        public private(set) var video: [Int: VideoParameterSet] = [:]
        /// By `sps_seq_parameter_set_id`, 0 to 15.
        public private(set) var sequence: [Int: SequenceParameterSet] = [:]
        /// By `pps_pic_parameter_set_id`, 0 to 63.
        public private(set) var picture: [Int: PictureParameterSet] = [:]
        /// The sequence parameter set that was inserted last: the one in use, unless a message says otherwise.
        public private(set) var latestSequence: SequenceParameterSet?

        /// The sets that a slice with this `slice_pic_parameter_set_id` uses, as far as they are known.
        public func inForce(
            slice_pic_parameter_set_id: Int
        ) -> (SequenceParameterSet?, PictureParameterSet?) {
            let picture = picture[slice_pic_parameter_set_id]
            return (picture.flatMap { sequence[$0.pps_seq_parameter_set_id] }, picture)
        }

        mutating func insert(_ nalUnit: RawSpan) throws(SyntaxError) {
            try ParameterSets.checkSize(nalUnit.byteCount)
            switch NALUnitHeader(of: nalUnit)?.nal_unit_type {
            case .videoParameterSet:
                let set = try VideoParameterSet(nalUnit)
                video[set.vps_video_parameter_set_id] = set
            case .sequenceParameterSet:
                let set = try SequenceParameterSet(nalUnit)
                sequence[set.sps_seq_parameter_set_id] = set
                latestSequence = set
            default:
                let set = try PictureParameterSet(nalUnit)
                picture[set.pps_pic_parameter_set_id] = set
            }
        }
    }
}
