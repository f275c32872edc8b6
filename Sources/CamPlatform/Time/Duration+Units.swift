extension Duration {
    /// Whole nanoseconds, rounded toward zero; the nearest that an `Int64` can hold.
    public var inNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

    /// Whole milliseconds, rounded toward zero; the nearest that an `Int64` can hold.
    public var inMilliseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000_000) }

    /// Seconds, exact to the nanosecond.
    public var inSeconds: Double { Double(inNanoseconds) / 1e9 }

    /// The absolute value.
    public var magnitude: Duration { self < .zero ? .zero - self : self }
}

extension Int64 {
    func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, isOverflown) = addingReportingOverflow(other)
        return isOverflown ? (other < 0 ? .min : .max) : sum
    }
}
