extension H264 {
    /// `nal_unit_type`: what a NAL unit holds (Table 7-1), every value from 0 to 31.
    public struct NALUnitType: RawRepresentable, Hashable, Sendable {
        /// The value of the 5-bit field.
        public let rawValue: UInt8

        /// The type with this number, or `nil` above 31.
        public init?(rawValue: UInt8) {
            guard rawValue <= 31 else { return nil }
            self.rawValue = rawValue
        }

        /// The type in the low five bits of a NAL unit's first byte.
        init(headerByte: UInt8) { rawValue = headerByte & 0x1F }

        /// 1: coded slice of a non-IDR picture.
        public static let nonIDRSlice = Self(headerByte: 1)
        /// 2: coded slice data partition A.
        public static let sliceDataPartitionA = Self(headerByte: 2)
        /// 3: coded slice data partition B.
        public static let sliceDataPartitionB = Self(headerByte: 3)
        /// 4: coded slice data partition C.
        public static let sliceDataPartitionC = Self(headerByte: 4)
        /// 5: coded slice of an IDR picture.
        public static let idrSlice = Self(headerByte: 5)
        /// 6: supplemental enhancement information (SEI).
        public static let supplementalEnhancementInformation = Self(headerByte: 6)
        /// 7: sequence parameter set (SPS).
        public static let sequenceParameterSet = Self(headerByte: 7)
        /// 8: picture parameter set (PPS).
        public static let pictureParameterSet = Self(headerByte: 8)
        /// 9: access unit delimiter (AUD).
        public static let accessUnitDelimiter = Self(headerByte: 9)
        /// 10: end of sequence.
        public static let endOfSequence = Self(headerByte: 10)
        /// 11: end of stream.
        public static let endOfStream = Self(headerByte: 11)
        /// 12: filler data.
        public static let fillerData = Self(headerByte: 12)
        /// 13: sequence parameter set extension.
        public static let sequenceParameterSetExtension = Self(headerByte: 13)
        /// 14: prefix NAL unit.
        public static let prefix = Self(headerByte: 14)
        /// 15: subset sequence parameter set.
        public static let subsetSequenceParameterSet = Self(headerByte: 15)
        /// 16: depth parameter set.
        public static let depthParameterSet = Self(headerByte: 16)
        /// 19: coded slice of an auxiliary coded picture without partitioning.
        public static let auxiliarySlice = Self(headerByte: 19)
        /// 20: coded slice extension.
        public static let sliceExtension = Self(headerByte: 20)
        /// 21: coded slice extension for a depth view component or a 3D-AVC texture view component.
        public static let depthSliceExtension = Self(headerByte: 21)

        /// Whether this is a slice, whole, of the primary coded picture (1 or 5).
        public var isSlice: Bool { self == .nonIDRSlice || self == .idrSlice }

        /// Whether this is a sequence or a picture parameter set (7 or 8).
        public var isParameterSet: Bool { self == .sequenceParameterSet || self == .pictureParameterSet }

        /// What the standard says of `nal_ref_idc` in units of this type (7.4.1).
        public var referenceRule: ReferenceRule {
            switch rawValue {
            case 5, 7, 8, 13, 15: .neverZero
            case 6, 9, 10, 11, 12: .alwaysZero
            default: .any
            }
        }

        /// A rule on the value of `nal_ref_idc`.
        public enum ReferenceRule: Sendable {
            /// Must not be 0.
            case neverZero
            /// Must be 0.
            case alwaysZero
            /// May have any value.
            case any
        }
    }
}

extension H264.NALUnitType: CustomStringConvertible {
    /// The content of such a unit in the words of Table 7-1.
    public var description: String {
        switch rawValue {
        case 1: "coded slice of a non-IDR picture"
        case 2: "coded slice data partition A"
        case 3: "coded slice data partition B"
        case 4: "coded slice data partition C"
        case 5: "coded slice of an IDR picture"
        case 6: "supplemental enhancement information (SEI)"
        case 7: "sequence parameter set"
        case 8: "picture parameter set"
        case 9: "access unit delimiter"
        case 10: "end of sequence"
        case 11: "end of stream"
        case 12: "filler data"
        case 13: "sequence parameter set extension"
        case 14: "prefix NAL unit"
        case 15: "subset sequence parameter set"
        case 16: "depth parameter set"
        case 17, 18, 22, 23: "reserved (\(rawValue))"
        case 19: "coded slice of an auxiliary coded picture without partitioning"
        case 20: "coded slice extension"
        case 21:
            "coded slice extension for a depth view component or a 3D-AVC texture view component"
        default: "unspecified (\(rawValue))"
        }
    }
}
