/// One message of supplemental enhancement information (H.264: 7.3.2.3.1, Annex D; H.265: 7.3.5, Annex D).
public struct SEIMessage: Equatable, Sendable {
    /// The coding standard of the message.
    public let codec: Codec
    /// The type of the payload; see `name`.
    public let payloadType: Int
    /// The size of the payload in bytes, without emulation prevention bytes.
    public let payloadSize: Int
    /// The parsed payload.
    public let content: Content

    /// The parsed payload of a message.
    public enum Content: Equatable, Sendable {
        /// The start of a buffering period, with the id of the sequence parameter set in use.
        case bufferingPeriod(sequenceParameterSetID: Int)
        /// Timing and structure of a picture in H.264.
        case h264PictureTiming(H264.PictureTiming)
        /// Timing and structure of a picture in H.265.
        case hevcPictureTiming(H265.PictureTiming)
        /// Data of a kind that is registered by ITU-T T.35, such as captions.
        case registeredUserData(RegisteredUserData)
        /// Data of a kind identified by a UUID, such as an encoder's settings.
        case unregisteredUserData(UnregisteredUserData)
        /// Decoding may begin here.
        case recoveryPoint(RecoveryPoint)
        /// The transfer characteristics, which replace `transfer_characteristics` of the VUI.
        case alternativeTransfer(preferred: Int)
        /// An unread payload: its type is not supported, or it depends on an unknown parameter set.
        case unread
        /// A payload with invalid syntax.
        case damaged(SyntaxError)
    }
}

extension SEIMessage {
    /// sei_message() (H.264: 7.3.2.3.1, H.265: 7.3.5).
    init(_ reader: inout RBSPReader, _ parameterSets: StreamParameterSets) throws(SyntaxError) {
        codec = parameterSets.codec
        var payload: RBSPReader
        (payloadType, payloadSize, payload) = try Self.split(&reader)
        do throws(SyntaxError) {
            content = try Self.content(&payload, type: payloadType, parameterSets)
        } catch {
            content = .damaged(error)
        }
    }

    /// The next message's type and size, and a reader of its payload alone.
    static func split(
        _ reader: inout RBSPReader
    ) throws(SyntaxError) -> (type: Int, size: Int, payload: RBSPReader) {
        // Both limits stop long runs of the byte 255.
        let type = try sum(&reader, last: "last_payload_type_byte", limit: 0xFFFF)
        let size = try sum(&reader, last: "last_payload_size_byte", limit: reader.byteCount)
        return (type, size, try reader.split(byteCount: size, "sei_payload"))
    }

    /// A number as the sum of its bytes; all except the last are 255.
    private static func sum(
        _ reader: inout RBSPReader, last: String, limit: Int
    ) throws(SyntaxError) -> Int {
        var sum = 0
        while reader.isNextByteAllOnes, sum <= limit { sum += try reader.u(8, "ff_byte") }
        guard sum <= limit else {
            throw reader.error(last, .outOfRange(value: sum, allowed: 0...limit))
        }
        return sum + (try reader.u(8, last))
    }

    /// sei_payload() (H.264: D.1.1, H.265: D.2.1).
    private static func content(
        _ reader: inout RBSPReader, type: Int, _ parameterSets: StreamParameterSets
    ) throws(SyntaxError) -> Content {
        switch (type, parameterSets.codec) {
        case (0, .h264): try H264.bufferingPeriod(&reader, parameterSets.h264)
        case (0, .hevc): try H265.bufferingPeriod(&reader, parameterSets.hevc)
        case (1, .h264):
            if let set = parameterSets.h264.latestSequence {
                .h264PictureTiming(try H264.PictureTiming(&reader, set))
            } else {
                .unread
            }
        case (1, .hevc):
            if let set = parameterSets.hevc.latestSequence {
                .hevcPictureTiming(try H265.PictureTiming(&reader, set))
            } else {
                .unread
            }
        case (4, _): .registeredUserData(try RegisteredUserData(&reader))
        case (5, _): .unregisteredUserData(try UnregisteredUserData(&reader))
        case (6, let codec): .recoveryPoint(try RecoveryPoint(&reader, codec))
        // H.264: D.1.31, H.265: D.2.37.
        case (147, _): .alternativeTransfer(preferred: try reader.u(8, "preferred_transfer_characteristics"))
        default: .unread
        }
    }
}

// MARK: - Names

extension SEIMessage {
    /// The name of the payload's syntax structure (sei_payload() in H.264, D.1.1, and in H.265, D.2.1),
    /// such as `recovery_point`; `reserved_sei_message` for types without a name.
    public var name: String { Self.name(ofPayloadType: payloadType, codec: codec) }

    static func name(ofPayloadType type: Int, codec: Codec) -> String {
        let special =
            switch codec {
            case .h264: h264Names[type]
            case .hevc: hevcNames[type]
            }
        return special ?? commonNames[type] ?? "reserved_sei_message"
    }

    /// The types that both standards have.
    private static let commonNames: [Int: String] = [
        0: "buffering_period",
        1: "pic_timing",
        2: "pan_scan_rect",
        3: "filler_payload",
        4: "user_data_registered_itu_t_t35",
        5: "user_data_unregistered",
        6: "recovery_point",
        9: "scene_info",
        16: "progressive_refinement_segment_start",
        17: "progressive_refinement_segment_end",
        19: "film_grain_characteristics",
        22: "post_filter_hint",
        23: "tone_mapping_info",
        45: "frame_packing_arrangement",
        47: "display_orientation",
        56: "green_metadata",
        137: "mastering_display_colour_volume",
        142: "colour_remapping_info",
        144: "content_light_level_info",
        147: "alternative_transfer_characteristics",
        148: "ambient_viewing_environment",
        149: "content_colour_volume",
        150: "equirectangular_projection",
        151: "cubemap_projection",
        154: "sphere_rotation",
        155: "regionwise_packing",
        156: "omni_viewport",
        181: "alternative_depth_info",
        200: "sei_manifest",
        201: "sei_prefix_indication",
        202: "annotated_regions",
        205: "shutter_interval_info",
    ]

    /// The types that only H.264 has, or numbers differently.
    private static let h264Names: [Int: String] = [
        7: "dec_ref_pic_marking_repetition",
        8: "spare_pic",
        10: "sub_seq_info",
        11: "sub_seq_layer_characteristics",
        12: "sub_seq_characteristics",
        13: "full_frame_freeze",
        14: "full_frame_freeze_release",
        15: "full_frame_snapshot",
        18: "motion_constrained_slice_group_set",
        20: "deblocking_filter_display_preference",
        21: "stereo_video_info",
        24: "scalability_info",
        25: "sub_pic_scalable_layer",
        26: "non_required_layer_rep",
        27: "priority_layer_info",
        28: "layers_not_present",
        29: "layer_dependency_change",
        30: "scalable_nesting",
        31: "base_layer_temporal_hrd",
        32: "quality_layer_integrity_check",
        33: "redundant_pic_property",
        34: "tl0_dep_rep_index",
        35: "tl_switching_point",
        36: "parallel_decoding_info",
        37: "mvc_scalable_nesting",
        38: "view_scalability_info",
        39: "multiview_scene_info",
        40: "multiview_acquisition_info",
        41: "non_required_view_component",
        42: "view_dependency_change",
        43: "operation_point_not_present",
        44: "base_view_temporal_hrd",
        46: "multiview_view_position",
        48: "mvcd_scalable_nesting",
        49: "mvcd_view_scalability_info",
        50: "depth_representation_info",
        51: "three_dimensional_reference_displays_info",
        52: "depth_timing",
        53: "depth_sampling_info",
        54: "constrained_depth_parameter_set_identifier",
    ]

    /// The types that only H.265 has, or numbers differently.
    private static let hevcNames: [Int: String] = [
        15: "picture_snapshot",
        128: "structure_of_pictures_info",
        129: "active_parameter_sets",
        130: "decoding_unit_info",
        131: "temporal_sub_layer_zero_idx",
        132: "decoded_picture_hash",
        133: "scalable_nesting",
        134: "region_refresh_info",
        135: "no_display",
        136: "time_code",
        138: "segmented_rect_frame_packing_arrangement",
        139: "temporal_motion_constrained_tile_sets",
        140: "chroma_resampling_filter_hint",
        141: "knee_function_info",
        143: "deinterlaced_field_identification",
        145: "dependent_rap_indication",
        146: "coded_region_completion",
        152: "fisheye_video_info",
        157: "regional_nesting",
        158: "mcts_extraction_info_sets",
        159: "mcts_extraction_info_nesting",
        160: "layers_not_present",
        161: "inter_layer_constrained_tile_sets",
        162: "bsp_nesting",
        163: "bsp_initial_arrival_time",
        164: "sub_bitstream_property",
        165: "alpha_channel_info",
        166: "overlay_info",
        167: "temporal_mv_prediction_constraints",
        168: "frame_field_info",
        176: "three_dimensional_reference_displays_info",
        177: "depth_representation_info",
        178: "multiview_scene_info",
        179: "multiview_acquisition_info",
        180: "multiview_view_position",
    ]
}
