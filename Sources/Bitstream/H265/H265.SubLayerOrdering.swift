extension H265 {
    /// What decoding a stream up to a temporal sub-layer requires (7.4.3.1, 7.4.3.2.1). In the stream the
    /// elements' names begin with `vps_` or `sps_`.
    public struct SubLayerOrdering: Equatable, Sendable {
        /// Picture buffers that decoding needs, less 1: 0 to 15.
        public let max_dec_pic_buffering_minus1: Int
        /// How many pictures may precede another in decoding order and follow it in output order.
        public let max_num_reorder_pics: Int
        /// How many pictures may precede another in output order and follow it in decoding order, beyond
        /// `max_num_reorder_pics`, plus 1; 0 for no limit.
        public let max_latency_increase_plus1: Int

        /// Reads the orderings of all sub-layers, or only of the highest, after
        /// `sub_layer_ordering_info_present_flag` in a `prefix` parameter set.
        static func read(
            _ reader: inout RBSPReader, prefix: String, maxSubLayersMinus1: Int
        ) throws(SyntaxError) -> [SubLayerOrdering] {
            let isForAll = try reader.flag(prefix + "sub_layer_ordering_info_present_flag")
            var orderings: [SubLayerOrdering] = []
            for i in (isForAll ? 0 : maxSubLayersMinus1)...maxSubLayersMinus1 {
                orderings.append(
                    SubLayerOrdering(
                        max_dec_pic_buffering_minus1: try reader.ue(
                            prefix + "max_dec_pic_buffering_minus1", i, in: 0...15),
                        max_num_reorder_pics: try reader.ue(prefix + "max_num_reorder_pics", i, in: 0...15),
                        max_latency_increase_plus1: try reader.ue(prefix + "max_latency_increase_plus1", i)))
            }
            return orderings
        }
    }
}
