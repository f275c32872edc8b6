/// The ids at the start of a parameter set of either codec, which suffice to cache it.
struct ParameterSetIDs: Equatable {
    /// What a parameter set describes, in the order in which sets refer to each other.
    enum Kind: Int {
        /// H.265's layers and sub-layers (VPS).
        case video
        /// The coded video sequence (SPS).
        case sequence
        /// Pictures (PPS).
        case picture
    }

    /// Which kind of set.
    let kind: Kind
    /// The set's own id.
    let id: Int
    /// The id of the set that it refers to: a picture's sequence, an H.265 sequence's video parameter set.
    let referredID: Int?

    /// Reads the ids of a parameter set NAL unit, given without start code. Allocates nothing.
    init(_ nalUnit: RawSpan, codec: Codec) throws(SyntaxError) {
        guard let header = NALUnitHeader(of: nalUnit, codec: codec) else {
            throw SyntaxError(element: "nal_unit_header", reason: .truncated, bitOffset: 0)
        }
        guard let kind = header.parameterSetKind else {
            throw SyntaxError(
                element: "nal_unit_type", reason: .unexpectedType(UInt8(header.nal_unit_type)), bitOffset: 0)
        }
        self = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
            switch codec {
            case .h264: try ParameterSetIDs(kind, h264: RBSPReader(bytes, headerLength: 1))
            case .hevc:
                try ParameterSetIDs(
                    kind, hevc: RBSPReader(bytes, headerLength: H265.NALUnitHeader.byteCount))
            }
        }
    }

    /// H.264, 7.3.2.1.1 and 7.3.2.2.
    private init(_ kind: Kind, h264 start: RBSPReader) throws(SyntaxError) {
        var reader = start
        self.kind = kind
        if kind == .sequence {
            _ = try reader.u(24, "profile_idc, constraint flags, level_idc")
            id = try reader.ue("seq_parameter_set_id", in: 0...31)
            referredID = nil
        } else {
            id = try reader.ue("pic_parameter_set_id", in: 0...255)
            referredID = try reader.ue("seq_parameter_set_id", in: 0...31)
        }
    }

    /// H.265, 7.3.2.1 to 7.3.2.3.
    private init(_ kind: Kind, hevc start: RBSPReader) throws(SyntaxError) {
        var reader = start
        self.kind = kind
        switch kind {
        case .video:
            id = try reader.u(4, "vps_video_parameter_set_id")
            referredID = nil
        case .sequence:
            referredID = try reader.u(4, "sps_video_parameter_set_id")
            try reader.skipProfileTierLevel()
            id = try reader.ue("sps_seq_parameter_set_id", in: 0...15)
        case .picture:
            id = try reader.ue("pps_pic_parameter_set_id", in: 0...63)
            referredID = try reader.ue("pps_seq_parameter_set_id", in: 0...15)
        }
    }
}

extension NALUnitHeader {
    /// Which kind of parameter set the unit is; `nil` if it is none of the base layer's.
    var parameterSetKind: ParameterSetIDs.Kind? {
        switch self {
        case .h264(let header):
            switch header.nal_unit_type {
            case .sequenceParameterSet: .sequence
            case .pictureParameterSet: .picture
            default: nil
            }
        case .hevc(let header) where header.nuh_layer_id == 0:
            switch header.nal_unit_type {
            case .videoParameterSet: .video
            case .sequenceParameterSet: .sequence
            case .pictureParameterSet: .picture
            default: nil
            }
        case .hevc: nil
        }
    }
}

extension RBSPReader {
    /// Skips from after `sps_video_parameter_set_id` to after profile_tier_level() (H.265, 7.3.2.2.1, 7.3.3).
    fileprivate mutating func skipProfileTierLevel() throws(SyntaxError) {
        let subLayers = try u(3, "sps_max_sub_layers_minus1")
        _ = try flag("sps_temporal_id_nesting_flag")
        try skip(88 + 8, "profile_tier_level")
        guard subLayers > 0 else { return }
        var present = 0
        for _ in 0..<8 { present = present << 2 | (try u(2, "sub_layer_profile_present_flag")) }
        for index in 0..<subLayers {
            let flags = present >> (2 * (7 - index)) & 3
            if flags & 2 != 0 { try skip(88, "sub_layer_profile") }
            if flags & 1 != 0 { try skip(8, "sub_layer_level_idc") }
        }
    }

    private mutating func skip(_ bitCount: Int, _ element: String) throws(SyntaxError) {
        for _ in 0..<bitCount / 8 { _ = try u(8, element) }
    }
}
