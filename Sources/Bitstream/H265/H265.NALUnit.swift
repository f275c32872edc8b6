/// ITU-T H.265: NAL units and parameter sets. Clause and table numbers refer to its edition of 08/2021.
///
/// Syntax elements keep the standard's names; derived values have names of our own.
public enum H265 {}

extension H265 {
    /// The two bytes at the start of a NAL unit (7.3.1.2).
    public struct NALUnitHeader: Hashable, Sendable {
        /// Bytes in a header.
        public static let byteCount = 2

        /// The two bytes in the stream, the first one high.
        public let bytes: UInt16

        /// Reads a header from its two bytes. Any two bytes are a header, valid or not.
        public init(bytes: UInt16) { self.bytes = bytes }

        /// Reads the header of a NAL unit, given without start code; `nil` if it has fewer than two bytes.
        public init?(of nalUnit: RawSpan) {
            guard nalUnit.byteCount >= Self.byteCount else { return nil }
            bytes = UInt16(bigEndian: nalUnit.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt16.self))
        }

        /// The header with these fields: `nuh_layer_id` 0 to 63, `nuh_temporal_id_plus1` 1 to 7.
        public init(nal_unit_type: NALUnitType, nuh_layer_id: Int = 0, nuh_temporal_id_plus1: Int = 1) {
            precondition((0...63).contains(nuh_layer_id), "nuh_layer_id has six bits")
            precondition((1...7).contains(nuh_temporal_id_plus1), "nuh_temporal_id_plus1 has three bits")
            bytes =
                UInt16(nal_unit_type.rawValue) << 9 | UInt16(nuh_layer_id) << 3
                | UInt16(nuh_temporal_id_plus1)
        }

        /// Must be false; true marks a unit as damaged.
        public var forbidden_zero_bit: Bool { bytes & 0x8000 != 0 }
        /// The type of the unit's content.
        public var nal_unit_type: NALUnitType { NALUnitType(headerByte: UInt8(bytes >> 8)) }
        /// The layer of a scalable or multiview stream, 0 to 63; 0 is the base layer.
        public var nuh_layer_id: Int { Int(bytes >> 3 & 63) }
        /// The temporal sub-layer plus 1: 1 to 7; 0 is forbidden.
        public var nuh_temporal_id_plus1: Int { Int(bytes & 7) }

        /// Whether `nuh_temporal_id_plus1` has a value that 7.4.2.2 allows for this type: never 0, and 1 in
        /// units that every sub-layer needs.
        public var isTemporalIDValid: Bool {
            switch nal_unit_type {
            case .videoParameterSet, .sequenceParameterSet, .endOfSequence, .endOfBitstream:
                nuh_temporal_id_plus1 == 1
            case let type where type.isIntraRandomAccessPoint: nuh_temporal_id_plus1 == 1
            default: nuh_temporal_id_plus1 != 0
            }
        }
    }
}

// MARK: - Types

extension H265 {
    /// `nal_unit_type`: the content of a NAL unit (Table 7-1), 0 to 63.
    public struct NALUnitType: RawRepresentable, Hashable, Sendable {
        /// The value of the 6-bit field.
        public let rawValue: UInt8

        /// The type with this number, or `nil` above 63.
        public init?(rawValue: UInt8) {
            guard rawValue <= 63 else { return nil }
            self.rawValue = rawValue
        }

        /// The type in the first byte of a NAL unit.
        init(headerByte: UInt8) { rawValue = headerByte >> 1 & 0x3F }

        private init(number: UInt8) { rawValue = number }

        /// 0: slice segment of a trailing picture that no other picture of its sub-layer refers to.
        public static let trailN = Self(number: 0)
        /// 1: slice segment of a trailing picture.
        public static let trailR = Self(number: 1)
        /// 16: slice segment of a BLA picture that may have leading pictures.
        public static let blaWLP = Self(number: 16)
        /// 18: slice segment of a BLA picture without leading pictures.
        public static let blaNLP = Self(number: 18)
        /// 19: slice segment of an IDR picture that may have leading pictures, all of them decodable.
        public static let idrWRADL = Self(number: 19)
        /// 20: slice segment of an IDR picture without leading pictures.
        public static let idrNLP = Self(number: 20)
        /// 21: slice segment of a CRA picture.
        public static let craNUT = Self(number: 21)
        /// 32: video parameter set (VPS).
        public static let videoParameterSet = Self(number: 32)
        /// 33: sequence parameter set (SPS).
        public static let sequenceParameterSet = Self(number: 33)
        /// 34: picture parameter set (PPS).
        public static let pictureParameterSet = Self(number: 34)
        /// 35: access unit delimiter (AUD).
        public static let accessUnitDelimiter = Self(number: 35)
        /// 36: end of sequence.
        public static let endOfSequence = Self(number: 36)
        /// 37: end of bitstream.
        public static let endOfBitstream = Self(number: 37)
        /// 38: filler data.
        public static let fillerData = Self(number: 38)
        /// 39: supplemental enhancement information (SEI) before the slices.
        public static let prefixSEI = Self(number: 39)
        /// 40: supplemental enhancement information (SEI) after the slices.
        public static let suffixSEI = Self(number: 40)

        /// Whether the unit is a slice segment of a defined type (0 to 9 and 16 to 21).
        public var isSliceSegment: Bool { rawValue <= 9 || (16...21).contains(rawValue) }

        /// Whether the unit belongs to the video coding layer: slice segments and types reserved for slice
        /// segments (0 to 31).
        public var isVideoCodingLayer: Bool { rawValue <= 31 }

        /// Whether the picture is an IDR picture (19 and 20).
        public var isIDR: Bool { self == .idrWRADL || self == .idrNLP }

        /// Whether the picture is an intra random access point, reserved types included (16 to 23).
        public var isIntraRandomAccessPoint: Bool { (16...23).contains(rawValue) }

        /// Whether the unit is a video, sequence or picture parameter set (32 to 34).
        public var isParameterSet: Bool { (32...34).contains(rawValue) }

        /// Whether no other picture of the same sub-layer refers to the picture (the even types up to 14).
        public var isSubLayerNonReference: Bool { rawValue <= 14 && rawValue.isMultiple(of: 2) }
    }
}

extension H265.NALUnitType: CustomStringConvertible {
    /// The standard's name for the type (Table 7-1), such as `IDR_W_RADL`.
    public var name: String {
        switch rawValue {
        case 0...9: Self.trailingAndLeading[Int(rawValue)]
        case 10, 12, 14: "RSV_VCL_N\(rawValue)"
        case 11, 13, 15: "RSV_VCL_R\(rawValue)"
        case 16...21: Self.randomAccess[Int(rawValue) - 16]
        case 22, 23: "RSV_IRAP_VCL\(rawValue)"
        case 24...31: "RSV_VCL\(rawValue)"
        case 32...40: Self.nonVideoCodingLayer[Int(rawValue) - 32]
        case 41...47: "RSV_NVCL\(rawValue)"
        default: "UNSPEC\(rawValue)"
        }
    }

    private static let trailingAndLeading = [
        "TRAIL_N", "TRAIL_R", "TSA_N", "TSA_R", "STSA_N", "STSA_R", "RADL_N", "RADL_R", "RASL_N", "RASL_R",
    ]
    private static let randomAccess = [
        "BLA_W_LP", "BLA_W_RADL", "BLA_N_LP", "IDR_W_RADL", "IDR_N_LP", "CRA_NUT",
    ]
    private static let nonVideoCodingLayer = [
        "VPS_NUT", "SPS_NUT", "PPS_NUT", "AUD_NUT", "EOS_NUT", "EOB_NUT", "FD_NUT", "PREFIX_SEI_NUT",
        "SUFFIX_SEI_NUT",
    ]

    /// The content in the words of Table 7-1.
    public var description: String {
        switch rawValue {
        case 0, 1: "coded slice segment of a non-TSA, non-STSA trailing picture"
        case 2, 3: "coded slice segment of a TSA picture"
        case 4, 5: "coded slice segment of an STSA picture"
        case 6, 7: "coded slice segment of a RADL picture"
        case 8, 9: "coded slice segment of a RASL picture"
        case 16, 17, 18: "coded slice segment of a BLA picture"
        case 19, 20: "coded slice segment of an IDR picture"
        case 21: "coded slice segment of a CRA picture"
        case 32: "video parameter set"
        case 33: "sequence parameter set"
        case 34: "picture parameter set"
        case 35: "access unit delimiter"
        case 36: "end of sequence"
        case 37: "end of bitstream"
        case 38: "filler data"
        case 39, 40: "supplemental enhancement information (SEI)"
        case 48...63: "unspecified (\(rawValue))"
        default: "reserved (\(rawValue))"
        }
    }
}

// MARK: - Reading

extension RBSPReader {
    /// The header of an H.265 NAL unit, and a reader positioned after the header.
    ///
    /// - Throws: if the unit is shorter than its header, has an unexpected type, or belongs to another
    ///   layer: this module reads only the syntax of the base layer.
    static func hevc(
        _ nalUnit: UnsafeRawBufferPointer, expecting isExpected: (H265.NALUnitType) -> Bool
    ) throws(SyntaxError) -> (H265.NALUnitHeader, RBSPReader) {
        guard let header = H265.NALUnitHeader(of: nalUnit.bytes) else {
            throw SyntaxError(element: "nal_unit_header", reason: .truncated, bitOffset: 0)
        }
        let type = header.nal_unit_type
        guard isExpected(type) else {
            throw SyntaxError(
                element: "nal_unit_type", reason: .unexpectedType(type.rawValue), bitOffset: 1)
        }
        guard header.nuh_layer_id == 0 else {
            throw SyntaxError(
                element: "nuh_layer_id", reason: .outOfRange(value: header.nuh_layer_id, allowed: 0...0),
                bitOffset: 7)
        }
        return (header, RBSPReader(nalUnit, headerLength: H265.NALUnitHeader.byteCount))
    }
}

extension H265 {
    /// Reads nal_unit() (7.3.1.1) and the supported part of its content, from its first byte.
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
