extension H264 {
    /// What a slice states about its picture (7.4.1.2.4).
    struct PictureSlice: Sendable {
        private let header: NALUnitHeader
        private let slice: SliceHeader

        /// Reads a slice NAL unit (types 1, 2 and 5), given without start code, with the sets in force.
        init(_ nalUnit: RawSpan, _ parameterSets: ParameterSetsByID) throws(SyntaxError) {
            (header, slice) = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                var (header, reader) = try RBSPReader.h264(bytes) {
                    $0.isSlice || $0 == .sliceDataPartitionA
                }
                let slice = try SliceHeader(&reader, isIDR: header.nal_unit_type == .idrSlice) {
                    parameterSets.inForce(pic_parameter_set_id: $0)
                }
                return (header, slice)
            }
        }

        private var isIDR: Bool { header.nal_unit_type == .idrSlice }
        private var isReference: Bool { header.nal_ref_idc != 0 }

        /// Whether the slice belongs to a redundant coded picture.
        var isRedundant: Bool { (slice.picture?.redundant_pic_cnt ?? 0) > 0 }
        /// Whether the slice belongs to a field.
        var isField: Bool { slice.picture?.field_pic_flag ?? false }
        /// Whether the slice has the picture's first macroblock.
        var isAtOrigin: Bool { slice.first_mb_in_slice == 0 }

        /// Whether this slice belongs to a different picture than an earlier slice, the first one read of its
        /// picture. Both must be of primary coded pictures.
        func beginsPicture(after first: PictureSlice) -> Bool {
            if slice.pic_parameter_set_id != first.slice.pic_parameter_set_id
                || isReference != first.isReference || isIDR != first.isIDR
            {
                return true
            }
            guard let picture = slice.picture, let other = first.slice.picture else { return isAtOrigin }
            return picture.differs(from: other)
                // No two slices of a picture have the same macroblock.
                || picture.colour_plane_id == other.colour_plane_id
                    && slice.first_mb_in_slice == first.slice.first_mb_in_slice
        }

        /// Whether this slice belongs to the second field of a frame whose first field contains a slice of
        /// the previous access unit (3.30: complementary field pairs).
        func isSecondField(after first: PictureSlice) -> Bool {
            guard let picture = slice.picture, let other = first.slice.picture else { return false }
            return picture.field_pic_flag && other.field_pic_flag
                && picture.bottom_field_flag != other.bottom_field_flag
                && picture.frame_num == other.frame_num && isReference == first.isReference && !isIDR
        }
    }
}

extension H264.SliceHeader.Picture {
    /// Whether an element's value shows that the other slice is not of the same picture.
    fileprivate func differs(from other: Self) -> Bool {
        if frame_num != other.frame_num || field_pic_flag != other.field_pic_flag
            || bottom_field_flag != other.bottom_field_flag || idr_pic_id != other.idr_pic_id
        {
            return true
        }
        // Elements that only one type of picture order count has are equal in all pictures of the other
        // types.
        return pic_order_cnt_lsb != other.pic_order_cnt_lsb
            || delta_pic_order_cnt_bottom != other.delta_pic_order_cnt_bottom
            || delta_pic_order_cnt != other.delta_pic_order_cnt
    }
}
