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
