extension H264 {
    /// The three (in 3D-AVC two) further header bytes of NAL unit types 14, 20 and 21 (7.3.1).
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
