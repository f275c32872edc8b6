/// The configuration that a decoder needs before a stream of length-prefixed H.264: the `avcC` of MP4 and
/// Matroska (ISO/IEC 14496-15, 5.3.3.1).
///
/// Writing a record that was read restores it byte for byte, reserved bits and bytes after the record
/// included.
public struct AVCDecoderConfigurationRecord: Hashable, Sendable {
    /// The elements that records of the High profiles have at their end.
    public struct HighProfile: Hashable, Sendable {
        /// The bytes of the three values, with their reserved bits.
        fileprivate let values: [UInt8]
        /// The sequence parameter set extension NAL units (type 13), without start codes.
        public let sequenceParameterSetExtensions: [[UInt8]]

        /// `chroma_format_idc` (H.264, 6.2): 0 none, 1 4:2:0, 2 4:2:2, 3 4:4:4.
        public var chroma_format: Int { Int(values[0] & 3) }
        /// Bits of a luma sample, less 8: 0 to 7.
        public var bit_depth_luma_minus8: Int { Int(values[1] & 7) }
        /// Bits of a chroma sample, less 8: 0 to 7.
        public var bit_depth_chroma_minus8: Int { Int(values[2] & 7) }
    }

    /// `profile_idc` of the sequence parameter sets.
    public let AVCProfileIndication: UInt8
    /// The byte after `profile_idc` in a sequence parameter set: the constraint flags that are set in all
    /// sets.
    public let profile_compatibility: UInt8
    /// The highest `level_idc` of the sequence parameter sets.
    public let AVCLevelIndication: UInt8
    /// The number of bytes of each length in the stream.
    public let lengthSize: AVCC.LengthSize
    /// The sequence parameter set NAL units, without start codes: at most 31.
    public let sequenceParameterSets: [[UInt8]]
    /// The picture parameter set NAL units, without start codes: at most 255.
    public let pictureParameterSets: [[UInt8]]
    /// The elements at the end; `nil` in other profiles, and in records that lack them.
    public let highProfile: HighProfile?
    /// Unknown bytes after the record.
    public let trailingBytes: [UInt8]

    /// The reserved bits before `lengthSizeMinusOne` and of the number of sequence parameter sets.
    private let reservedBits: [UInt8]

    /// Whether records of a profile have the elements of the High profiles: true for all profiles but
    /// Baseline, Main and Extended.
    private static func isHigh(_ profile: UInt8) -> Bool { ![66, 77, 88].contains(profile) }
}

extension AVCDecoderConfigurationRecord {
    /// Reads a record.
    public init(_ bytes: RawSpan) throws(ConfigurationRecordError) {
        self = try bytes.withUnsafeBytes { (buffer) throws(ConfigurationRecordError) in
            var reader = try ConfigurationRecordReader(buffer)
            return try AVCDecoderConfigurationRecord(&reader)
        }
    }

    private init(_ reader: inout ConfigurationRecordReader) throws(ConfigurationRecordError) {
        try reader.version()
        AVCProfileIndication = try reader.byte("AVCProfileIndication")
        profile_compatibility = try reader.byte("profile_compatibility")
        AVCLevelIndication = try reader.byte("AVCLevelIndication")
        let lengthSizeByte = try reader.byte("lengthSizeMinusOne")
        guard let lengthSize = AVCC.LengthSize(lengthSizeMinusOne: Int(lengthSizeByte & 3)) else {
            throw ConfigurationRecordError(
                "lengthSizeMinusOne", .invalidLengthSize(lengthSizeMinusOne: Int(lengthSizeByte & 3)),
                offset: reader.offset - 1)
        }
        self.lengthSize = lengthSize
        let count = try reader.byte("numOfSequenceParameterSets")
        reservedBits = [lengthSizeByte & 0xFC, count & 0xE0]
        sequenceParameterSets = try reader.nalUnits(Int(count & 0x1F), "sequenceParameterSetNALUnit")
        pictureParameterSets = try reader.nalUnits(
            Int(try reader.byte("numOfPictureParameterSets")), "pictureParameterSetNALUnit")
        let hasHighProfile = Self.isHigh(AVCProfileIndication) && reader.remainingCount >= 4
        highProfile = hasHighProfile ? try HighProfile(&reader) : nil
        trailingBytes = reader.rest()
    }

    /// The record's bytes.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = [
            1, AVCProfileIndication, profile_compatibility, AVCLevelIndication,
            reservedBits[0] | UInt8(lengthSize.lengthSizeMinusOne),
            reservedBits[1] | UInt8(sequenceParameterSets.count),
        ]
        bytes.appendRecordUnits(sequenceParameterSets)
        bytes.append(UInt8(pictureParameterSets.count))
        bytes.appendRecordUnits(pictureParameterSets)
        if let highProfile {
            bytes += highProfile.values + [UInt8(highProfile.sequenceParameterSetExtensions.count)]
            bytes.appendRecordUnits(highProfile.sequenceParameterSetExtensions)
        }
        return bytes + trailingBytes
    }
}

extension AVCDecoderConfigurationRecord {
    /// Creates the record of a stream with these parameter sets, NAL units without start codes.
    ///
    /// - Parameters:
    ///   - sequenceParameterSets: 1 to 31 units of type 7, of one profile, chroma format and bit depth.
    ///   - pictureParameterSets: 1 to 255 units of type 8.
    ///   - sequenceParameterSetExtensions: at most 255 units of type 13; only in the High profiles.
    ///   - lengthSize: the number of bytes of each length in the stream.
    public init(
        sequenceParameterSets: [[UInt8]], pictureParameterSets: [[UInt8]],
        sequenceParameterSetExtensions: [[UInt8]] = [], lengthSize: AVCC.LengthSize = .four
    ) throws(ConfigurationRecordError) {
        try sequenceParameterSets.checkRecordLimits("sequenceParameterSetNALUnit", count: 31)
        try pictureParameterSets.checkRecordLimits("pictureParameterSetNALUnit", count: 255)
        try sequenceParameterSetExtensions.checkRecordLimits("sequenceParameterSetExtNALUnit", count: 255)
        guard !pictureParameterSets.isEmpty else {
            throw ConfigurationRecordError("pictureParameterSetNALUnit", .missing)
        }
        let summary = try Self.summary(of: sequenceParameterSets)
        AVCProfileIndication = summary.profile
        profile_compatibility = summary.compatibility
        AVCLevelIndication = summary.level
        self.lengthSize = lengthSize
        self.sequenceParameterSets = sequenceParameterSets
        self.pictureParameterSets = pictureParameterSets
        let isHigh = Self.isHigh(summary.profile)
        guard isHigh || sequenceParameterSetExtensions.isEmpty else {
            throw ConfigurationRecordError(
                "sequenceParameterSetExtNALUnit",
                .tooMany(count: sequenceParameterSetExtensions.count, limit: 0))
        }
        highProfile =
            isHigh
            ? HighProfile(
                values: summary.values, sequenceParameterSetExtensions: sequenceParameterSetExtensions)
            : nil
        trailingBytes = []
        reservedBits = [0xFC, 0xE0]
    }

    /// The elements of a record that describe all sequence parameter sets.
    fileprivate struct Summary {
        let profile: UInt8
        var compatibility: UInt8
        var level: UInt8
        /// Chroma format and bit depths in the record's form.
        let values: [UInt8]
    }

    private static func summary(of sets: [[UInt8]]) throws(ConfigurationRecordError) -> Summary {
        var result: Summary?
        for set in sets {
            let summary = try Summary(set)
            guard let previous = result else {
                result = summary
                continue
            }
            guard summary.profile == previous.profile, summary.values == previous.values else {
                throw ConfigurationRecordError("AVCProfileIndication, chroma_format, bit_depth", .differing)
            }
            result?.compatibility &= summary.compatibility
            result?.level = max(previous.level, summary.level)
        }
        guard let result else { throw ConfigurationRecordError("sequenceParameterSetNALUnit", .missing) }
        return result
    }
}

extension AVCDecoderConfigurationRecord.Summary {
    fileprivate init(_ nalUnit: [UInt8]) throws(ConfigurationRecordError) {
        let set: H264.SequenceParameterSet
        do throws(SyntaxError) {
            set = try H264.SequenceParameterSet(nalUnit.span.bytes)
        } catch {
            throw ConfigurationRecordError("sequenceParameterSetNALUnit", .malformed(error))
        }
        let start = EmulationPrevention.unescape(nalUnit.span.bytes)
        profile = start[1]
        compatibility = start[2]
        level = start[3]
        values = [
            0xFC | UInt8(set.chroma_format_idc), 0xF8 | UInt8(set.bit_depth_luma_minus8),
            0xF8 | UInt8(set.bit_depth_chroma_minus8),
        ]
    }
}

extension AVCDecoderConfigurationRecord.HighProfile {
    fileprivate init(_ reader: inout ConfigurationRecordReader) throws(ConfigurationRecordError) {
        values = try reader.bytes(3, "chroma_format, bit_depth_luma_minus8, bit_depth_chroma_minus8")
        let count = try reader.byte("numOfSequenceParameterSetExt")
        sequenceParameterSetExtensions = try reader.nalUnits(Int(count), "sequenceParameterSetExtNALUnit")
    }
}
