extension H265 {
    /// A rectangle within a picture, given by what is cut off, in chroma samples (luma samples if there is no
    /// chroma). In the stream the elements' names begin with `conf_win_` (7.4.3.2.1) or `def_disp_win_`
    /// (E.3.1).
    public struct Window: Equatable, Sendable {
        /// What is cut off at the left.
        public let left_offset: Int
        /// What is cut off at the right.
        public let right_offset: Int
        /// What is cut off at the top.
        public let top_offset: Int
        /// What is cut off at the bottom.
        public let bottom_offset: Int

        init(_ reader: inout RBSPReader, prefix: String) throws(SyntaxError) {
            left_offset = try reader.ue(prefix + "left_offset")
            right_offset = try reader.ue(prefix + "right_offset")
            top_offset = try reader.ue(prefix + "top_offset")
            bottom_offset = try reader.ue(prefix + "bottom_offset")
        }
    }
}
