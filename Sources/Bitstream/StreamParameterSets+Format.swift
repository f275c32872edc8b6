extension StreamParameterSets {
    /// What the sequence parameter set that came last says of the pictures; `nil` where none could be read.
    /// Allocates: for once a sequence, not once a picture.
    public var latestFormat: StreamFormat? {
        switch codec {
        case .h264: h264.latestSequence.map { StreamFormat($0) }
        case .hevc: hevc.latestSequence.map { StreamFormat($0) }
        }
    }

    /// Whether pictures may be output in another order than they are decoded in; `nil` where the stream leaves
    /// that open, as H.264 may.
    public var reordersPictures: Bool? {
        switch codec {
        case .h264:
            guard let set = h264.latestSequence else { return nil }
            if let restriction = set.vui_parameters?.bitstream_restriction {
                return restriction.max_num_reorder_frames > 0
            }
            // 66 is Baseline, which has no B slices; with type 2, output order is decoding order (8.2.1.3).
            return set.pic_order_cnt_type == 2 || set.profile_idc == 66 ? false : nil
        case .hevc: return hevc.latestSequence.map { $0.maxNumReorderPictures > 0 }
        }
    }
}
