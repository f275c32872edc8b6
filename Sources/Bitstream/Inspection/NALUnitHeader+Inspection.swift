extension NALUnitHeader {
    /// The standard's short name of the type: `IDR_W_RADL` in H.265; in H.264, whose types have none, the
    /// name that its syntax tables use.
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

    /// What the standards do not allow in a header.
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

    /// Whether the unit is a parameter set of any distinguished kind.
    var isCatalogued: Bool {
        if case .h264(let header) = self, [13, 15].contains(header.nal_unit_type.rawValue) { return true }
        return isParameterSet
    }
}
