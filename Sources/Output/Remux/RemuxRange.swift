/// The part of a recording that a remux takes, by the time from its first picture.
public struct RemuxRange: Sendable, Equatable {
    /// The part begins at the last keyframe at or before this time.
    public var start: Duration?
    /// The part ends before the first keyframe at or after this time.
    public var end: Duration?

    /// Creates a range; without limits, the whole recording.
    public init(start: Duration? = nil, end: Duration? = nil) { (self.start, self.end) = (start, end) }
}
