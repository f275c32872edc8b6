/// When a recording ends by itself.
public struct RecordingLimits: Sendable, Hashable {
    /// Frames, at least 1; nil for no limit.
    public var frames: Int?
    /// Nanoseconds from the first frame's timestamp; nil for no limit.
    public var duration: Int64?

    /// Frames, a duration in nanoseconds, both or neither.
    public init(frames: Int? = nil, duration: Int64? = nil) {
        self.frames = frames
        self.duration = duration
    }
}
