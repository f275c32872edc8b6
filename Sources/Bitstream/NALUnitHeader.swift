/// The start of a NAL unit of either codec: its content, and whether it is plausible.
public enum NALUnitHeader: Hashable, Sendable {
    /// One byte of H.264 (7.3.1).
    case h264(H264.NALUnitHeader)
    /// Two bytes of H.265 (7.3.1.2).
    case hevc(H265.NALUnitHeader)

    /// Reads the header of a NAL unit, given without start code; `nil` if the unit is shorter than that.
    public init?(of nalUnit: RawSpan, codec: Codec) {
        switch codec {
        case .h264:
            guard !nalUnit.isEmpty else { return nil }
            self = .h264(H264.NALUnitHeader(of: nalUnit))
        case .hevc:
            guard let header = H265.NALUnitHeader(of: nalUnit) else { return nil }
            self = .hevc(header)
        }
    }

    /// The standard that the header belongs to.
    public var codec: Codec {
        switch self {
        case .h264: .h264
        case .hevc: .hevc
        }
    }

    /// Must be false; true marks a unit as damaged.
    public var forbidden_zero_bit: Bool {
        switch self {
        case .h264(let header): header.forbidden_zero_bit
        case .hevc(let header): header.forbidden_zero_bit
        }
    }

    /// `nal_unit_type`: 0 to 31 in H.264, 0 to 63 in H.265.
    public var nal_unit_type: Int {
        switch self {
        case .h264(let header): Int(header.nal_unit_type.rawValue)
        case .hevc(let header): Int(header.nal_unit_type.rawValue)
        }
    }

    /// The content in the words of the standard's Table 7-1.
    public var content: String {
        switch self {
        case .h264(let header): "\(header.nal_unit_type)"
        case .hevc(let header): "\(header.nal_unit_type)"
        }
    }

    /// Whether the unit is a slice of the (base layer's) coded picture, in any standard type.
    public var isSlice: Bool {
        switch self {
        case .h264(let header): header.nal_unit_type.isSlice
        case .hevc(let header): header.nal_unit_type.isSliceSegment && header.nuh_layer_id == 0
        }
    }

    /// Whether the unit is a slice of an IDR picture.
    public var isIDR: Bool {
        switch self {
        case .h264(let header): header.nal_unit_type == .idrSlice
        case .hevc(let header): header.nal_unit_type.isIDR && header.nuh_layer_id == 0
        }
    }

    /// Whether decoding can begin with the slice's picture: an IDR picture, or another of H.265's random access
    /// points.
    public var isEntryPoint: Bool {
        switch self {
        case .h264: isIDR
        case .hevc(let header): header.nal_unit_type.isIntraRandomAccessPoint && header.nuh_layer_id == 0
        }
    }

    /// Whether the unit only marks the beginning of an access unit.
    public var isAccessUnitDelimiter: Bool {
        switch self {
        case .h264: nal_unit_type == 9
        case .hevc: nal_unit_type == 35
        }
    }

    /// Whether the unit contains supplemental enhancement information.
    public var isSupplementalEnhancementInformation: Bool {
        switch self {
        case .h264(let header): header.nal_unit_type == .supplementalEnhancementInformation
        case .hevc(let header): header.nal_unit_type == .prefixSEI || header.nal_unit_type == .suffixSEI
        }
    }

    /// Whether the unit is a video, sequence or picture parameter set of the base layer.
    public var isParameterSet: Bool {
        switch self {
        case .h264(let header): header.nal_unit_type.isParameterSet
        case .hevc(let header): header.nal_unit_type.isParameterSet && header.nuh_layer_id == 0
        }
    }
}
