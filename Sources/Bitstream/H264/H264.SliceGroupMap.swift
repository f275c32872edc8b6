extension H264 {
    /// How a picture parameter set assigns macroblocks to its slice groups (flexible macroblock ordering,
    /// 7.3.2.2, 8.2.2).
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
            /// Address of the last one.
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
    /// The addresses of map units: no level has frames of more macroblocks (Table A-1).
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
