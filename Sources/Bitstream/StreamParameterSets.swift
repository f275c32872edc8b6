/// The parsed parameter sets in force at a point in a stream.
///
/// An inserted set replaces the set with the same id. The collection has at most 16 video, 32 sequence and
/// 256 picture parameter sets (64 in H.265), none longer than `ParameterSets.maximumByteCount`.
public struct StreamParameterSets: Equatable, Sendable {
    /// The standard that the stream follows.
    public let codec: Codec
    /// The sets of an H.264 stream.
    public private(set) var h264 = H264.ParameterSetsByID()
    /// The sets of an H.265 stream.
    public private(set) var hevc = H265.ParameterSetsByID()

    /// Creates an empty collection, for a stream of that standard.
    public init(codec: Codec) { self.codec = codec }

    /// Inserts a NAL unit, given without start code, if it is a parameter set of the base layer; ignores
    /// other units.
    ///
    /// - Returns: whether the unit is a parameter set of the base layer.
    /// - Throws: if the set can't be read or is too large. The collection is then unchanged.
    @discardableResult
    public mutating func insert(_ nalUnit: RawSpan) throws(SyntaxError) -> Bool {
        guard let header = NALUnitHeader(of: nalUnit, codec: codec), header.isParameterSet else {
            return false
        }
        switch codec {
        case .h264: try h264.insert(nalUnit)
        case .hevc: try hevc.insert(nalUnit)
        }
        return true
    }
}

extension StreamParameterSets {
    /// The picture format in the latest sequence parameter set; `nil` without a readable set. Allocates:
    /// use it once per sequence, not once per picture.
    public var latestFormat: StreamFormat? {
        switch codec {
        case .h264: h264.latestSequence.map { StreamFormat($0) }
        case .hevc: hevc.latestSequence.map { StreamFormat($0) }
        }
    }

    /// The reordering that the latest sequence parameter set allows; `nil` without a readable set.
    public var reordering: PictureReordering? {
        switch codec {
        case .h264: h264.latestSequence.map { PictureReordering($0) }
        case .hevc: hevc.latestSequence.map { PictureReordering($0) }
        }
    }
}

// MARK: - H.264

extension H264 {
    /// The parsed parameter sets in force, by their ids.
    public struct ParameterSetsByID: Equatable, Sendable {
        /// By `seq_parameter_set_id`, 0 to 31.
        public private(set) var sequence: [Int: SequenceParameterSet] = [:]
        /// By `pic_parameter_set_id`, 0 to 255.
        public private(set) var picture: [Int: PictureParameterSet] = [:]
        /// The latest inserted sequence parameter set, which is in use unless a message activates another.
        public private(set) var latestSequence: SequenceParameterSet?

        /// The sets that a slice with this `pic_parameter_set_id` uses; `nil` for unknown sets.
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

// MARK: - H.265

extension H265 {
    /// The parsed parameter sets of the base layer in force, by their ids.
    public struct ParameterSetsByID: Equatable, Sendable {
        /// By `vps_video_parameter_set_id`, 0 to 15.
        public private(set) var video: [Int: VideoParameterSet] = [:]
        /// By `sps_seq_parameter_set_id`, 0 to 15.
        public private(set) var sequence: [Int: SequenceParameterSet] = [:]
        /// By `pps_pic_parameter_set_id`, 0 to 63.
        public private(set) var picture: [Int: PictureParameterSet] = [:]
        /// The latest inserted sequence parameter set, which is in use unless a message activates another.
        public private(set) var latestSequence: SequenceParameterSet?

        /// The sets that a slice with this `slice_pic_parameter_set_id` uses; `nil` for unknown sets.
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
