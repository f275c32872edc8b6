/// The configuration that a decoder needs before a stream of length-prefixed H.265: the `hvcC` of MP4 and
/// Matroska (ISO/IEC 14496-15, 8.3.3.1).
///
/// Writing a record that was read restores it byte for byte, reserved bits and bytes after the record
/// included.
public struct HEVCDecoderConfigurationRecord: Hashable, Sendable {
    /// NAL units of one type.
    public struct NALUnitArray: Hashable, Sendable {
        /// The byte that holds completeness, a reserved bit and the type.
        let header: UInt8
        /// The NAL units, without start codes.
        public let nalUnits: [[UInt8]]

        /// Whether the record has all units of the type, and the stream none.
        public var array_completeness: Bool { header & 0x80 != 0 }
        /// The type of the units: parameter sets or supplemental enhancement information.
        public var NAL_unit_type: H265.NALUnitType { H265.NALUnitType(headerByte: header << 1) }
    }

    /// The arrays in the record's order, at most 255.
    public let arrays: [NALUnitArray]
    /// Unknown bytes after the record.
    public let trailingBytes: [UInt8]

    /// The record's bytes before the number of arrays.
    private let head: [UInt8]
    private static let headByteCount = 22

    /// Creates a record with these first bytes, whose `lengthSizeMinusOne` must be valid.
    init(head: [UInt8], arrays: [NALUnitArray], trailingBytes: [UInt8] = []) {
        precondition(head.count == Self.headByteCount)
        self.head = head
        self.arrays = arrays
        self.trailingBytes = trailingBytes
    }
}

extension HEVCDecoderConfigurationRecord {
    /// The space that the profile belongs to; 0 in every stream so far.
    public var general_profile_space: Int { Int(head[1] >> 6) }
    /// The tier: false Main, true High.
    public var general_tier_flag: Bool { head[1] & 0x20 != 0 }
    /// The profile (Annex A): 1 Main, 2 Main 10, 3 Main Still Picture, 4 range extensions.
    public var general_profile_idc: Int { Int(head[1] & 0x1F) }
    /// The profiles that the stream obeys: the flag of profile 0 is the highest bit.
    public var general_profile_compatibility_flags: UInt32 {
        UInt32(truncatingIfNeeded: bigEndian(2..<6))
    }
    /// The constraints that the stream observes: 48 flags.
    public var general_constraint_indicator_flags: UInt64 { bigEndian(6..<12) }
    /// Thirty times the level.
    public var general_level_idc: Int { Int(head[12]) }
    /// The minimum division of pictures (E.3.1); 0 for unknown.
    public var min_spatial_segmentation_idc: Int { Int(bigEndian(13..<15) & 0xFFF) }
    /// The kind of parallel decoding that the stream supports: 0 unknown or mixed, 1 slices, 2 tiles, 3
    /// wavefronts.
    public var parallelismType: Int { Int(head[15] & 3) }
    /// `chroma_format_idc` (6.2): 0 none, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    public var chroma_format_idc: Int { Int(head[16] & 3) }
    /// Bits of a luma sample, less 8.
    public var bit_depth_luma_minus8: Int { Int(head[17] & 7) }
    /// Bits of a chroma sample, less 8.
    public var bit_depth_chroma_minus8: Int { Int(head[18] & 7) }
    /// Frames in 256 seconds; 0 for unknown.
    public var avgFrameRate: Int { Int(bigEndian(19..<21)) }
    /// 0 unknown, 1 constant, 2 constant in each temporal sub-layer.
    public var constantFrameRate: Int { Int(head[21] >> 6) }
    /// The number of temporal sub-layers; 0 for unknown, 1 for none.
    public var numTemporalLayers: Int { Int(head[21] >> 3 & 7) }
    /// Whether `sps_temporal_id_nesting_flag` is set in all sequence parameter sets.
    public var temporalIdNested: Bool { head[21] & 4 != 0 }
    /// The number of bytes of each length in the stream.
    public var lengthSize: AVCC.LengthSize {
        guard let size = AVCC.LengthSize(lengthSizeMinusOne: Int(head[21] & 3)) else {
            preconditionFailure("checked by every initializer")
        }
        return size
    }

    /// The NAL units of a type, from all arrays.
    public func nalUnits(of type: H265.NALUnitType) -> [[UInt8]] {
        arrays.filter { $0.NAL_unit_type == type }.flatMap(\.nalUnits)
    }

    private func bigEndian(_ range: Range<Int>) -> UInt64 { head[range].reduce(0) { $0 << 8 | UInt64($1) } }
}

extension HEVCDecoderConfigurationRecord {
    /// Reads a record.
    public init(_ bytes: RawSpan) throws(ConfigurationRecordError) {
        self = try bytes.withUnsafeBytes { (buffer) throws(ConfigurationRecordError) in
            var reader = try ConfigurationRecordReader(buffer)
            return try HEVCDecoderConfigurationRecord(&reader)
        }
    }

    private init(_ reader: inout ConfigurationRecordReader) throws(ConfigurationRecordError) {
        try reader.version()
        let head =
            [1] + (try reader.bytes(Self.headByteCount - 1, "general_profile_space … lengthSizeMinusOne"))
        let lengthSizeMinusOne = Int(head[Self.headByteCount - 1] & 3)
        guard AVCC.LengthSize(lengthSizeMinusOne: lengthSizeMinusOne) != nil else {
            throw ConfigurationRecordError(
                "lengthSizeMinusOne", .invalidLengthSize(lengthSizeMinusOne: lengthSizeMinusOne),
                offset: reader.offset - 1)
        }
        var arrays: [NALUnitArray] = []
        for _ in 0..<(try reader.byte("numOfArrays")) {
            let header = try reader.byte("NAL_unit_type")
            let count = try reader.bytes(2, "numNalus").reduce(0) { $0 << 8 | Int($1) }
            arrays.append(NALUnitArray(header: header, nalUnits: try reader.nalUnits(count, "nalUnit")))
        }
        self.init(head: head, arrays: arrays, trailingBytes: reader.rest())
    }

    /// The record's bytes.
    public var bytes: [UInt8] {
        var bytes = head + [UInt8(arrays.count)]
        for array in arrays {
            let count = array.nalUnits.count
            bytes += [array.header, UInt8(count >> 8), UInt8(count & 0xFF)]
            bytes.appendRecordUnits(array.nalUnits)
        }
        return bytes + trailingBytes
    }
}

// MARK: - Records from parameter sets

extension HEVCDecoderConfigurationRecord {
    /// Creates the record of a stream with these parameter sets, NAL units without start codes and at least
    /// one of each kind. The record states no frame rates, and parallelism only if pictures must be
    /// divided.
    ///
    /// - Parameters:
    ///   - isComplete: whether the stream itself has no parameter sets, as the sample entry `hvc1` requires.
    ///   - lengthSize: the number of bytes of each length in the stream.
    public init(
        videoParameterSets: [[UInt8]], sequenceParameterSets: [[UInt8]], pictureParameterSets: [[UInt8]],
        isComplete: Bool = true, lengthSize: AVCC.LengthSize = .four
    ) throws(ConfigurationRecordError) {
        let arrays: [(H265.NALUnitType, [[UInt8]])] = [
            (.videoParameterSet, videoParameterSets), (.sequenceParameterSet, sequenceParameterSets),
            (.pictureParameterSet, pictureParameterSets),
        ]
        for (type, units) in arrays {
            guard !units.isEmpty else { throw ConfigurationRecordError(type.name, .missing) }
            try units.checkRecordLimits(type.name, count: 0xFFFF)
        }
        let summary = try SequenceSummary(ofAll: sequenceParameterSets)
        let parallelism = try ParallelismType(of: pictureParameterSets)
        let isDivided = summary.min_spatial_segmentation_idc > 0
        self.init(
            head: [1] + summary.profileTierLevel + [
                0xF0 | UInt8(summary.min_spatial_segmentation_idc >> 8),
                UInt8(summary.min_spatial_segmentation_idc & 0xFF),
                0xFC | (isDivided ? parallelism : .unknown).rawValue,
            ] + summary.format + [
                0, 0,  // avgFrameRate
                summary.temporalLayers | UInt8(lengthSize.lengthSizeMinusOne),
            ],
            arrays: arrays.map { type, units in
                NALUnitArray(header: type.rawValue | (isComplete ? 0x80 : 0), nalUnits: units)
            })
    }
}

/// The elements of a record that describe its sequence parameter sets.
private struct SequenceSummary {
    /// The 12 bytes from `general_profile_space` to `general_level_idc`.
    var profileTierLevel: [UInt8]
    /// Chroma format and bit depths in the record's form.
    let format: [UInt8]
    var min_spatial_segmentation_idc: Int
    var layerCount: Int
    var isNested: Bool

    /// The byte of `constantFrameRate` (unknown), `numTemporalLayers` and `temporalIdNested`, without
    /// `lengthSizeMinusOne`.
    var temporalLayers: UInt8 { UInt8(layerCount) << 3 | (isNested ? 4 : 0) }

    init(_ nalUnit: [UInt8]) throws(ConfigurationRecordError) {
        let set: H265.SequenceParameterSet
        do throws(SyntaxError) {
            set = try H265.SequenceParameterSet(nalUnit.span.bytes)
        } catch {
            throw ConfigurationRecordError("SPS_NUT", .malformed(error))
        }
        // The elements lie on byte boundaries, after the NAL unit header and one more byte.
        profileTierLevel = Array(EmulationPrevention.unescape(nalUnit.span.bytes)[3..<15])
        format = [
            0xFC | UInt8(set.chroma_format_idc), 0xF8 | UInt8(set.bit_depth_luma_minus8),
            0xF8 | UInt8(set.bit_depth_chroma_minus8),
        ]
        let restriction = set.vui_parameters?.bitstream_restriction
        min_spatial_segmentation_idc = restriction?.min_spatial_segmentation_idc ?? 0
        layerCount = set.sps_max_sub_layers_minus1 + 1
        isNested = set.sps_temporal_id_nesting_flag
    }

    /// The summary of all sets: the highest tier, level and number of layers, and the flags that are set in
    /// all sets.
    init(ofAll nalUnits: [[UInt8]]) throws(ConfigurationRecordError) {
        self = try SequenceSummary(nalUnits[0])
        for nalUnit in nalUnits.dropFirst() { try merge(try SequenceSummary(nalUnit)) }
    }

    private mutating func merge(_ other: SequenceSummary) throws(ConfigurationRecordError) {
        let tierFlag: UInt8 = 0x20
        let (first, second) = (profileTierLevel[0], other.profileTierLevel[0])
        guard first & ~tierFlag == second & ~tierFlag, format == other.format else {
            throw ConfigurationRecordError("general_profile_idc, chroma_format_idc, bit_depth", .differing)
        }
        profileTierLevel[0] |= second & tierFlag
        for index in 1..<11 { profileTierLevel[index] &= other.profileTierLevel[index] }
        profileTierLevel[11] = max(profileTierLevel[11], other.profileTierLevel[11])
        min_spatial_segmentation_idc = min(min_spatial_segmentation_idc, other.min_spatial_segmentation_idc)
        layerCount = max(layerCount, other.layerCount)
        isNested = isNested && other.isNested
    }
}

/// The kind of parallel decoding that the stream supports.
private enum ParallelismType: UInt8 {
    case unknown, slices, tiles, wavefronts

    /// The kind that one picture parameter set allows.
    private init(_ set: H265.PictureParameterSet) {
        switch (set.entropy_coding_sync_enabled_flag, set.tiles != nil) {
        case (true, true): self = .unknown
        case (true, false): self = .wavefronts
        case (false, true): self = .tiles
        case (false, false): self = .slices
        }
    }

    /// The kind that all sets allow; `unknown` if the sets differ.
    init(of pictureParameterSets: [[UInt8]]) throws(ConfigurationRecordError) {
        var found: Set<ParallelismType> = []
        for nalUnit in pictureParameterSets {
            do throws(SyntaxError) {
                found.insert(ParallelismType(try H265.PictureParameterSet(nalUnit.span.bytes)))
            } catch {
                throw ConfigurationRecordError("PPS_NUT", .malformed(error))
            }
        }
        self = found.count == 1 ? found.first ?? .unknown : .unknown
    }
}
