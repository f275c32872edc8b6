extension H265 {
    /// A picture parameter set (7.3.2.3, 7.4.3.3) of the base layer, with its range and screen content
    /// extensions; of other extensions, it records only the presence.
    ///
    /// Elements that are absent from the stream have the value that 7.4.3.3 infers.
    public struct PictureParameterSet: Equatable, Sendable {
        /// The id by which slices refer to this set, 0 to 63.
        public private(set) var pps_pic_parameter_set_id = 0
        /// The sequence parameter set in use, 0 to 15.
        public private(set) var pps_seq_parameter_set_id = 0
        /// Whether slice segments may inherit the header of the previous one.
        public private(set) var dependent_slice_segments_enabled_flag = false
        /// Whether slice headers have `pic_output_flag`.
        public private(set) var output_flag_present_flag = false
        /// The number of bits in slice headers that are reserved for extensions.
        public private(set) var num_extra_slice_header_bits = 0
        /// Whether signs may be hidden in the parity of levels.
        public private(set) var sign_data_hiding_enabled_flag = false
        /// Whether slice headers have `cabac_init_flag`.
        public private(set) var cabac_init_present_flag = false
        /// The default number of entries of list 0, less 1.
        public private(set) var num_ref_idx_l0_default_active_minus1 = 0
        /// The default number of entries of list 1, less 1.
        public private(set) var num_ref_idx_l1_default_active_minus1 = 0
        /// The initial quantizer of slices, less 26.
        public private(set) var init_qp_minus26 = 0
        /// Whether intra blocks use only samples of intra blocks.
        public private(set) var constrained_intra_pred_flag = false
        /// Whether blocks may skip the transform.
        public private(set) var transform_skip_enabled_flag = false
        /// The depth of the coding tree down to which the quantizer may change; `nil` if it may not change.
        public private(set) var diff_cu_qp_delta_depth: Int?
        /// Offset of the quantizer of Cb.
        public private(set) var pps_cb_qp_offset = 0
        /// Offset of the quantizer of Cr.
        public private(set) var pps_cr_qp_offset = 0
        /// Whether slice headers have chroma quantizer offsets, too.
        public private(set) var pps_slice_chroma_qp_offsets_present_flag = false
        /// Whether P slices use explicit weights.
        public private(set) var weighted_pred_flag = false
        /// Whether B slices use explicit weights.
        public private(set) var weighted_bipred_flag = false
        /// Whether coding units may be lossless.
        public private(set) var transquant_bypass_enabled_flag = false
        /// Whether rows of coding tree blocks can be decoded in parallel (wavefronts).
        public private(set) var entropy_coding_sync_enabled_flag = false
        /// The tiles of the picture; `nil` for a single tile.
        public private(set) var tiles: Tiles?
        /// Whether filters cross the upper and left edges of slices.
        public private(set) var pps_loop_filter_across_slices_enabled_flag = false
        /// The control of the deblocking filter; `nil` if not stated.
        public private(set) var deblocking: DeblockingControl?
        /// The scaling lists, by size and matrix; `nil` for the lists of the sequence parameter set.
        public private(set) var scaling_list_data: [[ScalingList]]?
        /// Whether slice headers may reorder reference lists.
        public private(set) var lists_modification_present_flag = false
        /// Log2 of the side of the regions that merge in parallel, less 2.
        public private(set) var log2_parallel_merge_level_minus2 = 0
        /// Whether slice headers have an extension.
        public private(set) var slice_segment_header_extension_present_flag = false
        /// The extensions; `nil` if there are none.
        public private(set) var extensions: Extensions?

        /// The elements after `tiles_enabled_flag`.
        public struct Tiles: Equatable, Sendable {
            /// Columns of tiles, less 1.
            public let num_tile_columns_minus1: Int
            /// Rows of tiles, less 1.
            public let num_tile_rows_minus1: Int
            /// The widths, less 1, of all columns but the last, in coding tree blocks; `nil` if all columns
            /// and rows are equal.
            public let column_width_minus1: [Int]?
            /// The heights, less 1, of all rows but the last; `nil` if all are equal.
            public let row_height_minus1: [Int]?
            /// Whether filters cross the edges of tiles.
            public let loop_filter_across_tiles_enabled_flag: Bool
        }

        /// The elements after `deblocking_filter_control_present_flag`.
        public struct DeblockingControl: Equatable, Sendable {
            /// Whether slice headers may override these elements.
            public let deblocking_filter_override_enabled_flag: Bool
            /// Whether the deblocking filter is off.
            public let pps_deblocking_filter_disabled_flag: Bool
            /// Offset of beta, halved; 0 if the filter is off.
            public let pps_beta_offset_div2: Int
            /// Offset of tC, halved; 0 if the filter is off.
            public let pps_tc_offset_div2: Int
        }

        /// The elements after `pps_extension_present_flag`.
        public struct Extensions: Equatable, Sendable {
            /// The range extension; `nil` if it is absent.
            public let range: RangeExtension?
            /// Whether the set has a multilayer extension (Annex F), which is not read.
            public let pps_multilayer_extension_flag: Bool
            /// Whether the set has a 3D extension (Annex I), which is not read.
            public let pps_3d_extension_flag: Bool
            /// The screen content extension; `nil` if absent, and after an extension that is not read.
            public let screenContent: ScreenContentExtension?
            /// Reserved for future extensions; 0 today.
            public let pps_extension_4bits: Int
        }

        /// pps_range_extension() (7.3.2.3.2).
        public struct RangeExtension: Equatable, Sendable {
            /// Log2 of the largest transform skip block's side, less 2.
            public let log2_max_transform_skip_block_size_minus2: Int
            /// Whether chroma may be predicted from luma's residual.
            public let cross_component_prediction_enabled_flag: Bool
            /// The depth of the coding tree down to which chroma quantizer offsets may change; `nil` if
            /// they may not change.
            public let diff_cu_chroma_qp_offset_depth: Int?
            /// The offsets of Cb's quantizer that blocks can choose.
            public let cb_qp_offset_list: [Int]
            /// The offsets of Cr's quantizer that blocks can choose.
            public let cr_qp_offset_list: [Int]
            /// Log2 of the scale of luma's sample adaptive offsets.
            public let log2_sao_offset_scale_luma: Int
            /// Log2 of the scale of chroma's sample adaptive offsets.
            public let log2_sao_offset_scale_chroma: Int
        }

        /// Reads a picture parameter set NAL unit (type 34) of the base layer, given without start code.
        ///
        /// Bytes after the structure are ignored, as decoders do.
        public init(_ nalUnit: RawSpan) throws(SyntaxError) {
            self = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                var (_, reader) = try RBSPReader.hevc(bytes) { $0 == .pictureParameterSet }
                return try PictureParameterSet(&reader)
            }
        }
    }
}

extension H265.PictureParameterSet {
    /// pic_parameter_set_rbsp() (7.3.2.3.1).
    init(_ reader: inout RBSPReader) throws(SyntaxError) {
        try readSliceHeaderControl(&reader)
        try readQuantisation(&reader)
        let hasTiles = try reader.flag("tiles_enabled_flag")
        entropy_coding_sync_enabled_flag = try reader.flag("entropy_coding_sync_enabled_flag")
        if hasTiles { tiles = try Tiles(&reader) }
        pps_loop_filter_across_slices_enabled_flag = try reader.flag(
            "pps_loop_filter_across_slices_enabled_flag")
        if try reader.flag("deblocking_filter_control_present_flag") {
            deblocking = try DeblockingControl(&reader)
        }
        if try reader.flag("pps_scaling_list_data_present_flag") {
            scaling_list_data = try H265.ScalingList.readAll(&reader)
        }
        lists_modification_present_flag = try reader.flag("lists_modification_present_flag")
        log2_parallel_merge_level_minus2 = try reader.ue("log2_parallel_merge_level_minus2", in: 0...4)
        slice_segment_header_extension_present_flag = try reader.flag(
            "slice_segment_header_extension_present_flag")
        if try reader.flag("pps_extension_present_flag") {
            extensions = try Extensions(&reader, hasTransformSkip: transform_skip_enabled_flag)
        }
    }

    private mutating func readSliceHeaderControl(_ reader: inout RBSPReader) throws(SyntaxError) {
        pps_pic_parameter_set_id = try reader.ue("pps_pic_parameter_set_id", in: 0...63)
        pps_seq_parameter_set_id = try reader.ue("pps_seq_parameter_set_id", in: 0...15)
        dependent_slice_segments_enabled_flag = try reader.flag("dependent_slice_segments_enabled_flag")
        output_flag_present_flag = try reader.flag("output_flag_present_flag")
        num_extra_slice_header_bits = try reader.u(3, "num_extra_slice_header_bits")
        sign_data_hiding_enabled_flag = try reader.flag("sign_data_hiding_enabled_flag")
        cabac_init_present_flag = try reader.flag("cabac_init_present_flag")
        num_ref_idx_l0_default_active_minus1 = try reader.ue(
            "num_ref_idx_l0_default_active_minus1", in: 0...14)
        num_ref_idx_l1_default_active_minus1 = try reader.ue(
            "num_ref_idx_l1_default_active_minus1", in: 0...14)
    }

    private mutating func readQuantisation(_ reader: inout RBSPReader) throws(SyntaxError) {
        // The lower bound decreases by 6 for each bit above 8, of at most 8 such bits.
        init_qp_minus26 = try reader.se("init_qp_minus26", in: -74...25)
        constrained_intra_pred_flag = try reader.flag("constrained_intra_pred_flag")
        transform_skip_enabled_flag = try reader.flag("transform_skip_enabled_flag")
        if try reader.flag("cu_qp_delta_enabled_flag") {
            diff_cu_qp_delta_depth = try reader.ue("diff_cu_qp_delta_depth", in: 0...3)
        }
        pps_cb_qp_offset = try reader.se("pps_cb_qp_offset", in: -12...12)
        pps_cr_qp_offset = try reader.se("pps_cr_qp_offset", in: -12...12)
        pps_slice_chroma_qp_offsets_present_flag = try reader.flag("pps_slice_chroma_qp_offsets_present_flag")
        weighted_pred_flag = try reader.flag("weighted_pred_flag")
        weighted_bipred_flag = try reader.flag("weighted_bipred_flag")
        transquant_bypass_enabled_flag = try reader.flag("transquant_bypass_enabled_flag")
    }
}

extension H265.PictureParameterSet.Tiles {
    fileprivate init(_ reader: inout RBSPReader) throws(SyntaxError) {
        // No level allows a side of more than 16888 samples (A.4.1): 1056 tree blocks of 16.
        num_tile_columns_minus1 = try reader.ue("num_tile_columns_minus1", in: 0...1055)
        num_tile_rows_minus1 = try reader.ue("num_tile_rows_minus1", in: 0...1055)
        if try reader.flag("uniform_spacing_flag") {
            column_width_minus1 = nil
            row_height_minus1 = nil
        } else {
            var widths: [Int] = []
            for i in 0..<num_tile_columns_minus1 {
                widths.append(try reader.ue("column_width_minus1", i, in: 0...1055))
            }
            column_width_minus1 = widths
            var heights: [Int] = []
            for i in 0..<num_tile_rows_minus1 {
                heights.append(try reader.ue("row_height_minus1", i, in: 0...1055))
            }
            row_height_minus1 = heights
        }
        loop_filter_across_tiles_enabled_flag = try reader.flag("loop_filter_across_tiles_enabled_flag")
    }
}

extension H265.PictureParameterSet.DeblockingControl {
    fileprivate init(_ reader: inout RBSPReader) throws(SyntaxError) {
        deblocking_filter_override_enabled_flag = try reader.flag("deblocking_filter_override_enabled_flag")
        pps_deblocking_filter_disabled_flag = try reader.flag("pps_deblocking_filter_disabled_flag")
        let isOn = !pps_deblocking_filter_disabled_flag
        pps_beta_offset_div2 = isOn ? try reader.se("pps_beta_offset_div2", in: -6...6) : 0
        pps_tc_offset_div2 = isOn ? try reader.se("pps_tc_offset_div2", in: -6...6) : 0
    }
}

extension H265.PictureParameterSet.Extensions {
    fileprivate init(_ reader: inout RBSPReader, hasTransformSkip: Bool) throws(SyntaxError) {
        let hasRange = try reader.flag("pps_range_extension_flag")
        pps_multilayer_extension_flag = try reader.flag("pps_multilayer_extension_flag")
        pps_3d_extension_flag = try reader.flag("pps_3d_extension_flag")
        let hasScreenContent = try reader.flag("pps_scc_extension_flag")
        pps_extension_4bits = try reader.u(4, "pps_extension_4bits")
        range =
            hasRange
            ? try H265.PictureParameterSet.RangeExtension(&reader, hasTransformSkip: hasTransformSkip) : nil
        let isReadable = hasScreenContent && !pps_multilayer_extension_flag && !pps_3d_extension_flag
        screenContent = isReadable ? try H265.PictureParameterSet.ScreenContentExtension(&reader) : nil
    }
}

extension H265.PictureParameterSet.RangeExtension {
    fileprivate init(_ reader: inout RBSPReader, hasTransformSkip: Bool) throws(SyntaxError) {
        log2_max_transform_skip_block_size_minus2 =
            hasTransformSkip ? try reader.ue("log2_max_transform_skip_block_size_minus2", in: 0...3) : 0
        cross_component_prediction_enabled_flag = try reader.flag("cross_component_prediction_enabled_flag")
        var cb: [Int] = []
        var cr: [Int] = []
        if try reader.flag("chroma_qp_offset_list_enabled_flag") {
            diff_cu_chroma_qp_offset_depth = try reader.ue("diff_cu_chroma_qp_offset_depth", in: 0...3)
            for i in 0...(try reader.ue("chroma_qp_offset_list_len_minus1", in: 0...5)) {
                cb.append(try reader.se("cb_qp_offset_list", i, in: -12...12))
                cr.append(try reader.se("cr_qp_offset_list", i, in: -12...12))
            }
        } else {
            diff_cu_chroma_qp_offset_depth = nil
        }
        cb_qp_offset_list = cb
        cr_qp_offset_list = cr
        log2_sao_offset_scale_luma = try reader.ue("log2_sao_offset_scale_luma", in: 0...6)
        log2_sao_offset_scale_chroma = try reader.ue("log2_sao_offset_scale_chroma", in: 0...6)
    }
}

// MARK: - Scaling lists

extension H265 {
    /// One scaling list of a parameter set (7.3.4, 7.4.5).
    public enum ScalingList: Equatable, Sendable {
        /// A copy of the list of an earlier matrix of the same size, by `delta` matrices, or for 32x32 by
        /// three times `delta`; with 0 the default list of Table 7-5 or 7-6.
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
