/// When a recording ends by itself.
public struct RecordingLimits: Sendable, Hashable {
    /// Frames, at least 1; nil for no limit.
    public var frames: Int?
    /// The duration from the first frame's timestamp; nil for no limit.
    public var duration: Duration?

    /// Limits the frames, the duration, both or neither.
    public init(frames: Int? = nil, duration: Duration? = nil) {
        self.frames = frames
        self.duration = duration
    }
}
