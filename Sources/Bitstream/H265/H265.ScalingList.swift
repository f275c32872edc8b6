extension H265 {
    /// One scaling list of a parameter set (7.3.4, 7.4.5).
    public enum ScalingList: Equatable, Sendable {
        /// A copy of the list for the matrix `delta` before it (of the same size; for 32x32, three times
        /// that); with 0 the default list of Table 7-5 or 7-6.
        case copy(delta: Int)
        /// The 16 or 64 entries, 1 to 255, in diagonal order, and for 16x16 and 32x32 the entry of the
        /// lowest frequency.
        case explicit(entries: [UInt8], dc: Int?)

        /// The lists of scaling_list_data(), by size and matrix: six each for 4x4, 8x8 and 16x16, two for
        /// 32x32.
        static func readAll(_ reader: inout RBSPReader) throws(SyntaxError) -> [[ScalingList]] {
            var lists: [[ScalingList]] = []
            for sizeID in 0..<4 {
                var ofSize: [ScalingList] = []
                let step = sizeID == 3 ? 3 : 1
                for matrixID in stride(from: 0, to: 6, by: step) {
                    if try reader.flag("scaling_list_pred_mode_flag", sizeID, matrixID) {
                        ofSize.append(try explicit(&reader, sizeID, matrixID))
                    } else {
                        ofSize.append(
                            .copy(
                                delta: try reader.ue(
                                    "scaling_list_pred_matrix_id_delta", sizeID, matrixID,
                                    in: 0...matrixID / step)))
                    }
                }
                lists.append(ofSize)
            }
            return lists
        }

        private static func explicit(
            _ reader: inout RBSPReader, _ sizeID: Int, _ matrixID: Int
        ) throws(SyntaxError) -> ScalingList {
            var dc: Int?
            if sizeID > 1 {
                dc = try reader.se("scaling_list_dc_coef_minus8", sizeID - 2, matrixID, in: -7...247) + 8
            }
            var last = UInt8(dc ?? 8)
            var entries: [UInt8] = []
            for i in 0..<min(64, 16 << (2 * sizeID)) {
                let delta = try reader.se("scaling_list_delta_coef", sizeID, matrixID, i, in: -128...127)
                last &+= UInt8(truncatingIfNeeded: delta)
                entries.append(last)
            }
            return .explicit(entries: entries, dc: dc)
        }
    }
}
