/// The limits that a stream's bit rate observes, whatever the content.
public struct RatePromise: Sendable, Hashable {
    /// Bits a second on average, nil if quality decides.
    public let average: Int?
    /// Requested or chosen bits per second over the window; nil without a limit.
    public let maximum: Int?
    /// Seconds.
    public let window: Double
    /// The most bits in any window, the tolerance included; nil without a limit.
    public let bitsInWindow: Int?
    /// The most bits beyond the average rate, however long the stream; nil without an average.
    public let bitsAboveAverage: Int?
    /// Whether the average was requested, by rate or by mode.
    public let isAverageWanted: Bool
    /// Whether the limit was requested, by rate or by mode.
    public let isMaximumWanted: Bool

    /// The share by which a window may exceed the maximum.
    static let windowTolerance = 0.02
    /// The share by which a stream may exceed its average.
    static let averageTolerance = 0.05

    /// Whether a number of bits in a number of seconds respects the average.
    public func holdsAverage(bits: Int, seconds: Double) -> Bool {
        guard let average, let bitsAboveAverage else { return true }
        return Double(bits)
            <= Double(average) * seconds * (1 + Self.averageTolerance) + Double(bitsAboveAverage)
    }

    /// Whether the fullest window keeps to the maximum.
    public func holdsMaximum(bits: Int) -> Bool { bitsInWindow.map { bits <= $0 } ?? true }
}
