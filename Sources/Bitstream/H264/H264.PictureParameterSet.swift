extension H264 {
    /// A picture parameter set (7.3.2.2, 7.4.2.2) with every syntax element.
    public struct PictureParameterSet: Equatable, Sendable {
        /// The id by which slices refer to this set, 0 to 255.
        public let pic_parameter_set_id: Int
        /// The sequence parameter set in use, 0 to 31.
        public let seq_parameter_set_id: Int
        /// Whether the entropy mode is CABAC and not CAVLC.
        public let entropy_coding_mode_flag: Bool
        /// Whether slice headers have elements for the order of bottom fields.
        public let bottom_field_pic_order_in_frame_present_flag: Bool
        /// Number of slice groups (flexible macroblock ordering), less 1.
        public let num_slice_groups_minus1: Int
        /// The assignment of macroblocks to slice groups; `nil` with a single group.
        public let sliceGroupMap: SliceGroupMap?
        /// The elements after the slice groups.
        public let coding: Coding
        /// The elements at the end; `nil` without the sequence parameter set, on which their syntax
        /// depends.
        public let transform: Transform?

        /// The elements from `num_ref_idx_l0_default_active_minus1` on.
        public struct Coding: Equatable, Sendable {
            /// The default number of entries of list 0, less 1.
            public let num_ref_idx_l0_default_active_minus1: Int
            /// The default number of entries of list 1, less 1.
            public let num_ref_idx_l1_default_active_minus1: Int
            /// Whether P slices use explicit weights.
            public let weighted_pred_flag: Bool
            /// Weights of B slices: 0 default, 1 explicit, 2 implicit.
            public let weighted_bipred_idc: Int
            /// The initial quantizer of slices, less 26.
            public let pic_init_qp_minus26: Int
            /// The initial quantizer of SP and SI slices, less 26.
            public let pic_init_qs_minus26: Int
            /// Offset of the quantizer of Cb, and of Cr unless stated otherwise.
            public let chroma_qp_index_offset: Int
            /// Whether slice headers control the deblocking filter.
            public let deblocking_filter_control_present_flag: Bool
            /// Whether intra macroblocks use only samples of intra macroblocks.
            public let constrained_intra_pred_flag: Bool
            /// Whether slice headers have `redundant_pic_cnt`.
            public let redundant_pic_cnt_present_flag: Bool
        }

        /// The elements from `transform_8x8_mode_flag` on, inferred where the stream ends before them.
        public struct Transform: Equatable, Sendable {
            /// Whether macroblocks may use the 8x8 transform.
            public let transform_8x8_mode_flag: Bool
            /// The lists of the scaling matrix: 6, or with the 8x8 transform 8 or 12; `nil` for the matrix
            /// of the sequence parameter set.
            public let scaling_lists: [ScalingList]?
            /// Offset of the quantizer of Cr.
            public let second_chroma_qp_index_offset: Int
        }

        /// Reads a picture parameter set NAL unit (type 8), given without start code.
        ///
        /// - Parameter sequenceParameterSet: the set that this set refers to; without it, reading ends
        ///   after `redundant_pic_cnt_present_flag`.
        public init(
            _ nalUnit: RawSpan, sequenceParameterSet: SequenceParameterSet? = nil
        ) throws(SyntaxError) {
            try self.init(nalUnit) { _ in sequenceParameterSet }
        }

        /// Reads a picture parameter set NAL unit, with the sequence parameter set that it refers to.
        init(
            _ nalUnit: RawSpan, sequenceParameterSet: (Int) -> SequenceParameterSet?
        ) throws(SyntaxError) {
            self = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                var (_, reader) = try RBSPReader.h264(bytes) { $0 == .pictureParameterSet }
                return try PictureParameterSet(&reader, sequenceParameterSet: sequenceParameterSet)
            }
        }

        /// pic_parameter_set_rbsp() (7.3.2.2).
        ///
        /// - Parameter sequenceParameterSet: returns the set with an id.
        init(
            _ reader: inout RBSPReader, sequenceParameterSet: (Int) -> SequenceParameterSet?
        ) throws(SyntaxError) {
            pic_parameter_set_id = try reader.ue("pic_parameter_set_id", in: 0...255)
            seq_parameter_set_id = try reader.ue("seq_parameter_set_id", in: 0...31)
            entropy_coding_mode_flag = try reader.flag("entropy_coding_mode_flag")
            bottom_field_pic_order_in_frame_present_flag = try reader.flag(
                "bottom_field_pic_order_in_frame_present_flag")
            num_slice_groups_minus1 = try reader.ue("num_slice_groups_minus1", in: 0...7)
            sliceGroupMap =
                num_slice_groups_minus1 > 0
                ? try SliceGroupMap(&reader, num_slice_groups_minus1: num_slice_groups_minus1) : nil
            coding = try Coding(&reader)
            if let sequenceParameterSet = sequenceParameterSet(seq_parameter_set_id) {
                transform = try Transform(
                    &reader, chroma_format_idc: sequenceParameterSet.chroma_format_idc,
                    chroma_qp_index_offset: coding.chroma_qp_index_offset)
            } else {
                transform = nil
            }
        }
    }
}

extension H264.PictureParameterSet.Coding {
    fileprivate init(_ reader: inout RBSPReader) throws(SyntaxError) {
        num_ref_idx_l0_default_active_minus1 = try reader.ue(
            "num_ref_idx_l0_default_active_minus1", in: 0...31)
        num_ref_idx_l1_default_active_minus1 = try reader.ue(
            "num_ref_idx_l1_default_active_minus1", in: 0...31)
        weighted_pred_flag = try reader.flag("weighted_pred_flag")
        weighted_bipred_idc = try reader.u(2, "weighted_bipred_idc")
        // The lower bound decreases by 6 for each bit above 8, of at most 6 such bits.
        pic_init_qp_minus26 = try reader.se("pic_init_qp_minus26", in: -62...25)
        pic_init_qs_minus26 = try reader.se("pic_init_qs_minus26", in: -26...25)
        chroma_qp_index_offset = try reader.se("chroma_qp_index_offset", in: -12...12)
        deblocking_filter_control_present_flag = try reader.flag("deblocking_filter_control_present_flag")
        constrained_intra_pred_flag = try reader.flag("constrained_intra_pred_flag")
        redundant_pic_cnt_present_flag = try reader.flag("redundant_pic_cnt_present_flag")
    }
}

extension H264.PictureParameterSet.Transform {
    fileprivate init(
        _ reader: inout RBSPReader, chroma_format_idc: Int, chroma_qp_index_offset: Int
    ) throws(SyntaxError) {
        guard reader.hasMoreData else {
            transform_8x8_mode_flag = false
            scaling_lists = nil
            second_chroma_qp_index_offset = chroma_qp_index_offset
            return
        }
        transform_8x8_mode_flag = try reader.flag("transform_8x8_mode_flag")
        if try reader.flag("pic_scaling_matrix_present_flag") {
            let count8x8 = transform_8x8_mode_flag ? (chroma_format_idc == 3 ? 6 : 2) : 0
            scaling_lists = try reader.scalingLists(
                count8x8: count8x8, presentFlag: "pic_scaling_list_present_flag")
        } else {
            scaling_lists = nil
        }
        second_chroma_qp_index_offset = try reader.se("second_chroma_qp_index_offset", in: -12...12)
    }
}

// MARK: - Slice groups

extension H264 {
    /// The assignment of macroblocks to the slice groups of a picture parameter set (flexible macroblock
    /// ordering, 7.3.2.2, 8.2.2).
    public enum SliceGroupMap: Equatable, Sendable {
        /// Type 0: runs of `run_length_minus1` + 1 map units for each group in turn.
        case interleaved(run_length_minus1: [Int])
        /// Type 1: a dispersed pattern.
        case dispersed
        /// Type 2: rectangles, as map units, before a background of the last group.
        case foreground([Rectangle])
        /// Types 3 (box-out), 4 (raster scan) and 5 (wipe): two groups that change from picture to picture.
        case changing(
            slice_group_map_type: Int, slice_group_change_direction_flag: Bool,
            slice_group_change_rate_minus1: Int)
        /// Type 6: the group of each map unit, 0 to 7.
        case explicit(slice_group_id: [UInt8])

        /// The map units of one group.
        public struct Rectangle: Equatable, Sendable {
            /// Address of the first map unit.
            public let top_left: Int
            /// Address of the last map unit.
            public let bottom_right: Int
        }

        /// `slice_group_map_type`, 0 to 6.
        public var slice_group_map_type: Int {
            switch self {
            case .interleaved: 0
            case .dispersed: 1
            case .foreground: 2
            case .changing(let type, _, _): type
            case .explicit: 6
            }
        }
    }
}

extension H264.SliceGroupMap {
    /// The addresses of map units: no level allows larger frames (Table A-1).
    private static let addresses = 0...139_263

    /// The elements from `slice_group_map_type` on.
    init(_ reader: inout RBSPReader, num_slice_groups_minus1: Int) throws(SyntaxError) {
        let type = try reader.ue("slice_group_map_type", in: 0...6)
        switch type {
        case 0:
            var runs: [Int] = []
            for group in 0...num_slice_groups_minus1 {
                runs.append(try reader.ue("run_length_minus1", group, in: Self.addresses))
            }
            self = .interleaved(run_length_minus1: runs)
        case 1:
            self = .dispersed
        case 2:
            var rectangles: [Rectangle] = []
            for group in 0..<num_slice_groups_minus1 {
                rectangles.append(
                    Rectangle(
                        top_left: try reader.ue("top_left", group, in: Self.addresses),
                        bottom_right: try reader.ue("bottom_right", group, in: Self.addresses)))
            }
            self = .foreground(rectangles)
        case 6:
            self = .explicit(
                slice_group_id: try Self.sliceGroupIDs(&reader, groupCount: num_slice_groups_minus1 + 1))
        default:
            self = .changing(
                slice_group_map_type: type,
                slice_group_change_direction_flag: try reader.flag("slice_group_change_direction_flag"),
                slice_group_change_rate_minus1: try reader.ue(
                    "slice_group_change_rate_minus1", in: Self.addresses))
        }
    }

    private static func sliceGroupIDs(
        _ reader: inout RBSPReader, groupCount: Int
    ) throws(SyntaxError) -> [UInt8] {
        let bitCount = Int.bitWidth - (groupCount - 1).leadingZeroBitCount
        var ids: [UInt8] = []
        for unit in 0...(try reader.ue("pic_size_in_map_units_minus1", in: addresses)) {
            ids.append(UInt8(try reader.u(bitCount, "slice_group_id", unit)))
        }
        return ids
    }
}

// MARK: - Scaling lists

extension H264 {
    /// One scaling list of a parameter set (7.3.2.1.1.1).
    public enum ScalingList: Equatable, Sendable {
        /// Not sent: the fall-back rule of Table 7-2 gives the list.
        case fallBack
        /// The default list of Table 7-2.
        case `default`
        /// The 16 or 64 entries, 1 to 255, in zig-zag order.
        case explicit([UInt8])
    }
}

extension RBSPReader {
    /// The lists of a scaling matrix, each after its `presentFlag`: six of 16 entries, then `count8x8` of
    /// 64.
    mutating func scalingLists(count8x8: Int, presentFlag: String) throws(SyntaxError) -> [H264.ScalingList] {
        var lists: [H264.ScalingList] = []
        for index in 0..<6 + count8x8 {
            let isPresent = try flag(presentFlag, index)
            lists.append(isPresent ? try scalingList(size: index < 6 ? 16 : 64) : .fallBack)
        }
        return lists
    }

    private mutating func scalingList(size: Int) throws(SyntaxError) -> H264.ScalingList {
        var entries: [UInt8] = []
        var last: UInt8 = 8
        var next: UInt8 = 8
        while entries.count < size {
            if next != 0 {
                let delta = try se("delta_scale", entries.count, in: -128...127)
                next = last &+ UInt8(truncatingIfNeeded: delta)
                if entries.isEmpty, next == 0 { return .default }
            }
            if next != 0 { last = next }
            entries.append(last)
        }
        return .explicit(entries)
    }
}
