/// Where a recording is cut: at keyframes, because a picture depends on all others since the last one.
public struct RemuxCut: Sendable, Equatable {
    /// The first picture's time, from the recording's first.
    public private(set) var start = Duration.zero
    /// The time of the keyframe that comes after the last picture; nil at the recording's end.
    public private(set) var end: Duration?
    /// Places in decoding order.
    private(set) var pictures: Range<Int>

    /// The latest time so far.
    private(set) var latest = Duration.zero
    private let range: RemuxRange

    /// Creates a cut that has seen no picture yet.
    init(_ range: RemuxRange) {
        self.range = range
        pictures = 0..<0
    }

    /// Notes the next picture in decoding order.
    mutating func note(isKeyframe: Bool, time: Duration, index: Int) {
        latest = max(latest, time)
        guard end == nil else { return }
        if isKeyframe, let limit = range.end, time >= limit, index > pictures.lowerBound {
            end = time
            return
        }
        if isKeyframe, let limit = range.start, time <= limit {
            start = time
            pictures = index..<index + 1
        } else {
            pictures = pictures.lowerBound..<index + 1
        }
    }
}
