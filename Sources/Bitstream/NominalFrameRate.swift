/// The frame rate that a stream's parameter sets announce, as a fraction in lowest terms.
public struct NominalFrameRate: Hashable, Sendable {
    /// Frames in `denominator` seconds.
    public let numerator: Int
    /// A number of seconds.
    public let denominator: Int

    /// So many frames in so many seconds, reduced; `nil` unless both are above 0.
    public init?(_ frames: Int, in seconds: Int) {
        guard frames > 0, seconds > 0 else { return nil }
        var (divisor, rest) = (frames, seconds)
        while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
        numerator = frames / divisor
        denominator = seconds / divisor
    }

    /// The rate as a number.
    public var framesPerSecond: Double { Double(numerator) / Double(denominator) }
}
