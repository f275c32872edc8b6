/// ITU-T Rec. H.264 (ISO/IEC 14496-10): its NAL units and the syntax structures in them.
///
/// Comments in this namespace cite clauses and tables of H.264. Properties in `snake_case` are syntax
/// elements under the standard's names; properties in `camelCase` are derived.
public enum H264 {}

extension H264 {
    /// The first byte of a NAL unit (7.3.1).
    ///
    /// It does not include the further header bytes of types 14, 20 and 21 (Annexes F to I).
    public struct NALUnitHeader: Hashable, Sendable {
        /// The byte in the stream.
        public let byte: UInt8

        /// Reads a header from a NAL unit's first byte. Every byte is a header, valid or not.
        public init(byte: UInt8) { self.byte = byte }

        /// Reads the header of a NAL unit, given without start code.
        ///
        /// Precondition: the unit is not empty.
        public init(of nalUnit: RawSpan) {
            self.init(byte: nalUnit.unsafeLoad(fromByteOffset: 0, as: UInt8.self))
        }

        /// The header with these fields; `nal_ref_idc` is 0 to 3.
        public init(nal_ref_idc: Int, nal_unit_type: NALUnitType) {
            precondition((0...3).contains(nal_ref_idc), "nal_ref_idc has two bits")
            byte = UInt8(nal_ref_idc) << 5 | nal_unit_type.rawValue
        }

        /// Must be false; true marks a unit as damaged.
        public var forbidden_zero_bit: Bool { byte & 0x80 != 0 }
        /// 0 if the unit is not needed to decode other pictures; 0 to 3.
        public var nal_ref_idc: Int { Int(byte >> 5 & 3) }
        /// The type of the unit's content.
        public var nal_unit_type: NALUnitType { NALUnitType(headerByte: byte) }

        /// Whether `nal_ref_idc` has a value that 7.4.1 allows for this type.
        public var isReferenceIndicationValid: Bool {
            switch nal_unit_type.referenceRule {
            case .neverZero: nal_ref_idc != 0
            case .alwaysZero: nal_ref_idc == 0
            case .any: true
            }
        }
    }
}

// MARK: - Types

extension H264 {
    /// `nal_unit_type`: the content of a NAL unit (Table 7-1), 0 to 31.
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

        /// Whether the unit is a whole slice of the primary coded picture (1 or 5).
        public var isSlice: Bool { self == .nonIDRSlice || self == .idrSlice }

        /// Whether the unit is a sequence or a picture parameter set (7 or 8).
        public var isParameterSet: Bool { self == .sequenceParameterSet || self == .pictureParameterSet }

        /// The standard's rule on `nal_ref_idc` in units of this type (7.4.1).
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
    /// The content in the words of Table 7-1.
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

extension H264.NALUnitType {
    /// The usual name, such as `IDR slice` or `SPS`.
    public var shortName: String {
        switch rawValue {
        case 1: "slice"
        case 2, 3, 4: "slice partition \(["A", "B", "C"][Int(rawValue) - 2])"
        case 5: "IDR slice"
        case 6: "SEI"
        case 7: "SPS"
        case 8: "PPS"
        case 9: "AUD"
        case 10: "end of sequence"
        case 11: "end of stream"
        case 12: "filler data"
        case 13: "SPS extension"
        case 14: "prefix"
        case 15: "subset SPS"
        case 16: "DPS"
        case 19: "auxiliary slice"
        case 20: "slice extension"
        case 21: "depth slice extension"
        case 17, 18, 22, 23: "reserved \(rawValue)"
        default: "unspecified \(rawValue)"
        }
    }
}

// MARK: - Reading

extension RBSPReader {
    /// The header of an H.264 NAL unit, and a reader positioned after the header.
    ///
    /// - Throws: if the unit is empty or has an unexpected type.
    static func h264(
        _ nalUnit: UnsafeRawBufferPointer, expecting isExpected: (H264.NALUnitType) -> Bool
    ) throws(SyntaxError) -> (H264.NALUnitHeader, RBSPReader) {
        guard let first = nalUnit.first else {
            throw SyntaxError(element: "nal_unit_header", reason: .truncated, bitOffset: 0)
        }
        let header = H264.NALUnitHeader(byte: first)
        let type = header.nal_unit_type
        guard isExpected(type) else {
            throw SyntaxError(
                element: "nal_unit_type", reason: .unexpectedType(type.rawValue), bitOffset: 3)
        }
        return (header, RBSPReader(nalUnit, headerLength: 1))
    }
}

extension H264 {
    /// Reads nal_unit() (7.3.1) and the supported part of its content, from its first byte.
    static func readNALUnit(
        _ reader: inout RBSPReader, _ sets: StreamParameterSets
    ) throws(SyntaxError) {
        _ = try reader.flag("forbidden_zero_bit")
        _ = try reader.u(2, "nal_ref_idc")
        let type = NALUnitType(headerByte: UInt8(try reader.u(5, "nal_unit_type")))
        switch type {
        case .nonIDRSlice, .sliceDataPartitionA, .idrSlice, .auxiliarySlice:
            _ = try SliceHeader(&reader, isIDR: type == .idrSlice) {
                sets.h264.inForce(pic_parameter_set_id: $0)
            }
        case .sequenceParameterSet, .subsetSequenceParameterSet:
            try ParameterSets.checkSize(reader.byteCount)
            _ = try SequenceParameterSet(&reader)
        case .pictureParameterSet:
            try ParameterSets.checkSize(reader.byteCount)
            _ = try PictureParameterSet(&reader) { sets.h264.sequence[$0] }
        case .supplementalEnhancementInformation:
            try SupplementalEnhancementInformation.readElements(&reader, sets)
        case .sequenceParameterSetExtension: _ = try SequenceParameterSetExtension(&reader)
        case .accessUnitDelimiter: _ = try reader.u(3, "primary_pic_type")
        case .sliceDataPartitionB, .sliceDataPartitionC: _ = try reader.ue("slice_id")
        case .prefix, .sliceExtension, .depthSliceExtension:
            try readNALUnitHeaderExtension(&reader, type)
        default: break
        }
    }
}

extension H264 {
    /// Reads the three further header bytes, two in 3D-AVC, of NAL unit types 14, 20 and 21 (7.3.1).
    static func readNALUnitHeaderExtension(
        _ reader: inout RBSPReader, _ type: NALUnitType
    ) throws(SyntaxError) {
        if type == .depthSliceExtension {
            if try reader.flag("avc_3d_extension_flag") {
                try readDepthExtension(&reader)
            } else {
                try readMultiviewExtension(&reader)
            }
        } else if try reader.flag("svc_extension_flag") {
            try readScalableExtension(&reader)
        } else {
            try readMultiviewExtension(&reader)
        }
    }

    /// nal_unit_header_svc_extension() (F.7.3.1.1).
    private static func readScalableExtension(_ reader: inout RBSPReader) throws(SyntaxError) {
        _ = try reader.flag("idr_flag")
        _ = try reader.u(6, "priority_id")
        _ = try reader.flag("no_inter_layer_pred_flag")
        _ = try reader.u(3, "dependency_id")
        _ = try reader.u(4, "quality_id")
        _ = try reader.u(3, "temporal_id")
        _ = try reader.flag("use_ref_base_pic_flag")
        _ = try reader.flag("discardable_flag")
        _ = try reader.flag("output_flag")
        _ = try reader.u(2, "reserved_three_2bits")
    }

    /// nal_unit_header_mvc_extension() (G.7.3.1.1).
    private static func readMultiviewExtension(_ reader: inout RBSPReader) throws(SyntaxError) {
        _ = try reader.flag("non_idr_flag")
        _ = try reader.u(6, "priority_id")
        _ = try reader.u(10, "view_id")
        _ = try reader.u(3, "temporal_id")
        _ = try reader.flag("anchor_pic_flag")
        _ = try reader.flag("inter_view_flag")
        _ = try reader.flag("reserved_one_bit")
    }

    /// nal_unit_header_3davc_extension() (I.7.3.1.1).
    private static func readDepthExtension(_ reader: inout RBSPReader) throws(SyntaxError) {
        _ = try reader.u(8, "view_idx")
        _ = try reader.flag("depth_flag")
        _ = try reader.flag("non_idr_flag")
        _ = try reader.u(3, "temporal_id")
        _ = try reader.flag("anchor_pic_flag")
        _ = try reader.flag("inter_view_flag")
    }
}
