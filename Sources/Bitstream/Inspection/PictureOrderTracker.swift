/// Finds out whether pictures are shown in another order than they are coded in, from the low bits of their
/// picture order counts (H.264 8.2.1.1, H.265 8.3.1).
struct PictureOrderTracker: Sendable {
    /// Whether a picture was shown before one that is coded ahead of it.
    private(set) var hasReordering = false

    private var previousLow = 0
    private var previousHigh = 0
    private var highestCount: Int?

    /// - Parameters:
    ///   - low: the picture's `pic_order_cnt_lsb`.
    ///   - bitCount: the number of bits of that.
    ///   - startsSequence: whether counting begins anew.
    ///   - isAnchor: whether the next picture's high bits follow from this picture's.
    mutating func add(low: Int, bitCount: Int, startsSequence: Bool, isAnchor: Bool) {
        if startsSequence { (previousLow, previousHigh, highestCount) = (0, 0, nil) }
        let modulus = 1 << bitCount
        var high = previousHigh
        if !startsSequence {
            if low < previousLow, previousLow - low >= modulus / 2 { high += modulus }
            if low > previousLow, low - previousLow > modulus / 2 { high -= modulus }
        }
        let count = high + low
        if let highestCount, count < highestCount { hasReordering = true }
        highestCount = max(highestCount ?? count, count)
        if isAnchor { (previousLow, previousHigh) = (low, high) }
    }
}
