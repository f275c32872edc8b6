/// The part of a recording that a remux takes, in nanoseconds from its first picture.
public struct RemuxRange: Sendable, Equatable {
    /// The part begins at the last keyframe at or before this time.
    public var start: Int64?
    /// The part ends before the first keyframe at or after this time.
    public var end: Int64?

    /// A part; all of it, unless limits are given.
    public init(start: Int64? = nil, end: Int64? = nil) { (self.start, self.end) = (start, end) }
}
