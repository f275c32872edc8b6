extension H265 {
    /// `nal_unit_type`: what a NAL unit holds (Table 7-1), every value from 0 to 63.
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

        /// Whether this is a slice segment of a type that the standard defines (0 to 9 and 16 to 21).
        public var isSliceSegment: Bool { rawValue <= 9 || (16...21).contains(rawValue) }

        /// Whether the unit belongs to the video coding layer: slice segments and the types reserved for
        /// them (0 to 31).
        public var isVideoCodingLayer: Bool { rawValue <= 31 }

        /// Whether the picture is an IDR picture (19 and 20).
        public var isIDR: Bool { self == .idrWRADL || self == .idrNLP }

        /// Whether the picture is an intra random access point, reserved types included (16 to 23).
        public var isIntraRandomAccessPoint: Bool { (16...23).contains(rawValue) }

        /// Whether this is a video, sequence or picture parameter set (32 to 34).
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

    /// The content of such a unit in the words of Table 7-1.
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
