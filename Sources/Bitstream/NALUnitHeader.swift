/// A video coding standard.
public enum Codec: String, Hashable, Sendable, CaseIterable, Encodable {
    /// ITU-T H.264, MPEG-4 AVC.
    case h264
    /// ITU-T H.265, MPEG-H HEVC.
    case hevc
}

extension Codec {
    /// Creates the codec that people call `h264`, `hevc` or `h265`; nil for another name.
    package init?(name: String) {
        guard let codec = Codec(rawValue: name) ?? (name == "h265" ? .hevc : nil) else { return nil }
        self = codec
    }
}

extension Codec: CustomStringConvertible {
    /// The standard's name: `H.264` or `H.265`.
    public var description: String {
        switch self {
        case .h264: "H.264"
        case .hevc: "H.265"
        }
    }
}

/// The header of a NAL unit of either codec.
public enum NALUnitHeader: Hashable, Sendable {
    /// One byte of H.264 (7.3.1).
    case h264(H264.NALUnitHeader)
    /// Two bytes of H.265 (7.3.1.2).
    case hevc(H265.NALUnitHeader)

    /// Reads the header of a NAL unit, given without start code; `nil` if the unit is shorter than a
    /// header.
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

    /// Whether decoding can begin with the slice's picture: an IDR picture, or any random access point of
    /// H.265.
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

// MARK: - Names and oddities

extension NALUnitHeader {
    /// The standard's short name of the type: `IDR_W_RADL` in H.265; in H.264, whose standard has no short
    /// names, the usual name.
    public var shortName: String {
        switch self {
        case .hevc(let header): header.nal_unit_type.name
        case .h264(let header): header.nal_unit_type.shortName
        }
    }

    /// The short name of a type by its number.
    static func shortName(ofType number: Int, codec: Codec) -> String {
        switch codec {
        case .h264: H264.NALUnitType(headerByte: UInt8(number)).shortName
        case .hevc: H265.NALUnitHeader(bytes: UInt16(number) << 9).nal_unit_type.name
        }
    }

    /// Violations of the standard in the header, and types that decoders ignore.
    var oddities: [String] {
        var oddities: [String] = []
        if forbidden_zero_bit { oddities.append("forbidden_zero_bit is set: a damaged NAL unit") }
        switch self {
        case .h264(let header):
            if !header.isReferenceIndicationValid {
                oddities.append("nal_ref_idc \(header.nal_ref_idc) is not allowed in \(shortName)")
            }
            if header.nal_unit_type == .sliceDataPartitionA {
                oddities.append("data partitioning (Extended profile), which few decoders know")
            }
            if [0, 17, 18, 22, 23].contains(header.nal_unit_type.rawValue) || nal_unit_type >= 24 {
                oddities.append("a NAL unit of type \(shortName), which decoders ignore")
            }
        case .hevc(let header):
            if !header.isTemporalIDValid {
                oddities.append(
                    "nuh_temporal_id_plus1 \(header.nuh_temporal_id_plus1) is not allowed in \(shortName)")
            }
            if [10...15, 22...31, 41...63].contains(where: { $0.contains(nal_unit_type) }) {
                oddities.append("a NAL unit of type \(shortName), which decoders ignore")
            }
        }
        return oddities
    }

    /// Whether the unit has a slice header: a slice of the picture, or its partition A.
    var beginsSlice: Bool {
        if case .h264(let header) = self, header.nal_unit_type == .sliceDataPartitionA { return true }
        return isSlice
    }

    /// Whether the inspection catalogs the unit: a parameter set, a subset SPS or an SPS extension.
    var isCatalogued: Bool {
        if case .h264(let header) = self, [13, 15].contains(header.nal_unit_type.rawValue) { return true }
        return isParameterSet
    }
}
