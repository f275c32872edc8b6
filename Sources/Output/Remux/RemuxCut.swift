/// The part of a recording that a remux takes, in nanoseconds from its first picture.
public struct RemuxRange: Sendable, Equatable {
    /// The part begins at the last keyframe at or before this time.
    public var start: Int64?
    /// The part ends before the first keyframe at or after this time.
    public var end: Int64?

    /// A part; all of it, unless limits are given.
    public init(start: Int64? = nil, end: Int64? = nil) { (self.start, self.end) = (start, end) }
}

/// Where a recording is cut: at keyframes, because a picture needs those since the last one.
public struct RemuxCut: Sendable, Equatable {
    /// The first picture's time, in nanoseconds from the recording's first.
    public private(set) var start: Int64 = 0
    /// The time of the keyframe that comes after the last picture; nil at the recording's end.
    public private(set) var end: Int64?
    /// Places in decoding order.
    private(set) var pictures: Range<Int>

    /// The latest time so far.
    private(set) var latest: Int64 = 0
    private let range: RemuxRange

    /// A cut of a recording of which no picture was seen yet.
    init(_ range: RemuxRange) {
        self.range = range
        pictures = 0..<0
    }

    /// Takes note of the next picture in decoding order.
    mutating func note(isKeyframe: Bool, time: Int64, index: Int) {
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
