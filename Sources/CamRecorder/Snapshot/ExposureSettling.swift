import CamPlatform

/// Decides from the brightness of a camera's pictures when its automatic exposure has settled.
///
/// It compares the means of three windows of six pictures each. Lights that flicker at twice the mains' frequency make
/// the brightness swing with a period of two, three, five or six pictures, which a window evens out. Slower swings, as
/// of an exposure that hunts for its value, show up as a difference between at least two of the three. Where the first
/// six pictures are equally bright, and neither dark nor dazzling, the camera has nothing to settle.
public struct ExposureSettling {
    /// What the pictures so far say.
    public enum Verdict: Sendable, Hashable {
        case settling
        case settled
        /// The brightness still changes, but there was enough time.
        case timedOut
    }

    private let bound: Duration
    private var lumas: [Double] = []
    private var start: Instant?

    static let windowLength = 6
    static let windowCount = 3
    /// Levels of 255: noise moves a picture's mean by much less, and nobody sees the difference.
    static let tolerance = 1.5
    /// Even an exposure that hunts, at the turn of its swing, changes more within six pictures.
    static let sameness = 0.25
    /// Cameras send some pictures that are dark or green before their sensor works: at a low rate too few have come
    /// when the time is over.
    static let fewest = 5
    /// The brightness that an automatic exposure aims at; outside it, it may only not have begun.
    static let wellExposed = 64.0...192

    /// - Parameter bound: the time from the first picture after which nothing is waited for; zero to take the first.
    public init(bound: Duration) {
        self.bound = bound
        lumas.reserveCapacity(Self.windowLength * Self.windowCount)
    }

    /// Judges the next picture.
    /// - Parameters:
    ///   - luma: its mean brightness, 0 to 255.
    ///   - time: when it was captured.
    public mutating func judge(luma: Double, at time: Instant) -> Verdict {
        guard bound > .zero else { return .settled }
        if lumas.count == Self.windowLength * Self.windowCount { lumas.removeFirst() }
        lumas.append(luma)
        let start = self.start ?? time
        self.start = start
        if isSteady || hadSettledBefore { return .settled }
        guard lumas.count >= Self.fewest, time - start >= bound else { return .settling }
        // At a low rate there are too few for windows.
        return range <= Self.tolerance ? .settled : .timedOut
    }

    private var range: Double { (lumas.max() ?? 0) - (lumas.min() ?? 0) }

    /// Whether the first pictures are as an exposure that has settled makes them.
    private var hadSettledBefore: Bool {
        lumas.count == Self.windowLength && range <= Self.sameness
            && lumas.allSatisfy(Self.wellExposed.contains)
    }

    private var isSteady: Bool {
        guard lumas.count == Self.windowLength * Self.windowCount else { return false }
        var means: [Double] = []
        for first in stride(from: 0, to: lumas.count, by: Self.windowLength) {
            means.append(lumas[first..<first + Self.windowLength].reduce(0, +) / Double(Self.windowLength))
        }
        return (means.max() ?? 0) - (means.min() ?? 0) <= Self.tolerance
    }
}
