/// What a decoder must know before a stream of length-prefixed H.265: the `hvcC` of MP4 and Matroska
/// (ISO/IEC 14496-15, 8.3.3.1).
///
/// Writing restores what was read, byte for byte: reserved bits and bytes after the record are preserved.
public struct HEVCDecoderConfigurationRecord: Hashable, Sendable {
    /// NAL units of one type.
    public struct NALUnitArray: Hashable, Sendable {
        /// The byte that holds completeness, a reserved bit and the type.
        let header: UInt8
        /// The NAL units, without start codes.
        public let nalUnits: [[UInt8]]

        /// Whether all units of the type are here and none in the stream.
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
    /// How finely pictures are at least divided (E.3.1); 0 for unknown.
    public var min_spatial_segmentation_idc: Int { Int(bigEndian(13..<15) & 0xFFF) }
    /// What parallel decoding can rely on: 0 unknown or mixed, 1 slices, 2 tiles, 3 wavefronts.
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
