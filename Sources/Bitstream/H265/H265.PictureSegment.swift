extension H265 {
    /// What a slice segment states about its picture (7.4.2.2, 7.4.7.1).
    struct PictureSegment: Sendable {
        private let type: NALUnitType
        /// Nil in dependent segments, and if the parameter sets are missing.
        private let order: Int?

        /// Reads a slice segment NAL unit, given without start code, with the sets in force.
        init(_ nalUnit: RawSpan, _ parameterSets: ParameterSetsByID) throws(SyntaxError) {
            (type, order) = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                var (header, reader) = try RBSPReader.hevc(bytes) { $0.isSliceSegment }
                let slice = try SliceHeader(&reader, type: header.nal_unit_type) {
                    parameterSets.inForce(slice_pic_parameter_set_id: $0)
                }
                return (header.nal_unit_type, slice.slice?.slice_pic_order_cnt_lsb)
            }
        }

        /// Whether this segment, which is not the first of a picture, belongs to a different picture than an
        /// earlier one: then the first segment of its picture is missing.
        func belongsElsewhere(after first: PictureSegment) -> Bool {
            if type != first.type { return true }
            guard let order, let other = first.order else { return false }
            return order != other
        }
    }
}
