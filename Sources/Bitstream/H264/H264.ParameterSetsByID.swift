extension H264 {
    /// The parsed parameter sets in force, by their ids.
    public struct ParameterSetsByID: Equatable, Sendable {
        /// By `seq_parameter_set_id`, 0 to 31.
        public private(set) var sequence: [Int: SequenceParameterSet] = [:]
        /// By `pic_parameter_set_id`, 0 to 255.
        public private(set) var picture: [Int: PictureParameterSet] = [:]
        /// The sequence parameter set that was inserted last: the one in use, unless a message says otherwise.
        public private(set) var latestSequence: SequenceParameterSet?

        /// The sets that a slice with this `pic_parameter_set_id` uses, as far as they are known.
        public func inForce(pic_parameter_set_id: Int) -> (SequenceParameterSet?, PictureParameterSet?) {
            let picture = picture[pic_parameter_set_id]
            return (picture.flatMap { sequence[$0.seq_parameter_set_id] }, picture)
        }

        mutating func insert(_ nalUnit: RawSpan) throws(SyntaxError) {
            try ParameterSets.checkSize(nalUnit.byteCount)
            if NALUnitHeader(of: nalUnit).nal_unit_type == .sequenceParameterSet {
                let set = try SequenceParameterSet(nalUnit)
                sequence[set.seq_parameter_set_id] = set
                latestSequence = set
            } else {
                let set = try PictureParameterSet(nalUnit) { sequence[$0] }
                picture[set.pic_parameter_set_id] = set
            }
        }
    }
}
