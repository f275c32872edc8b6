extension HEVCDecoderConfigurationRecord {
    /// Creates the record of a stream with these parameter sets, NAL units without start codes and at least
    /// one of each kind. Frame rates stay unknown, and so does parallelism if pictures need not be divided.
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

/// What a record states about its sequence parameter sets.
private struct SequenceSummary {
    /// The 12 bytes from `general_profile_space` to `general_level_idc`.
    var profileTierLevel: [UInt8]
    /// Chroma format and bit depths as the record has them.
    let format: [UInt8]
    var min_spatial_segmentation_idc: Int
    var layerCount: Int
    var isNested: Bool

    /// `constantFrameRate` unknown, `numTemporalLayers` and `temporalIdNested` in their places.
    var temporalLayers: UInt8 { UInt8(layerCount) << 3 | (isNested ? 4 : 0) }

    init(_ nalUnit: [UInt8]) throws(ConfigurationRecordError) {
        let set: H265.SequenceParameterSet
        do throws(SyntaxError) {
            set = try H265.SequenceParameterSet(nalUnit.span.bytes)
        } catch {
            throw ConfigurationRecordError("SPS_NUT", .malformed(error))
        }
        // They lie on byte boundaries, after the NAL unit header and one further byte.
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

    /// What all sets have in common: the highest tier, level and number of layers, the flags that all have.
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

/// What parallel decoding can rely on.
private enum ParallelismType: UInt8 {
    case unknown, slices, tiles, wavefronts

    /// What one picture parameter set allows.
    private init(_ set: H265.PictureParameterSet) {
        switch (set.entropy_coding_sync_enabled_flag, set.tiles != nil) {
        case (true, true): self = .unknown
        case (true, false): self = .wavefronts
        case (false, true): self = .tiles
        case (false, false): self = .slices
        }
    }

    /// What all sets allow alike.
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
