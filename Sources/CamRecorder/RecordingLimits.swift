import CamPlatform

/// When a recording, or its files, end by themselves.
public struct RecordingLimits: Sendable, Hashable {
    /// Frames, at least 1; nil for no limit.
    public var frames: Int?
    /// The duration from the first frame's timestamp; nil for no limit.
    public var duration: Duration?
    /// Whether only files end then, and live outputs continue.
    public var servesOn = false

    /// Limits the frames, the duration, both or neither.
    public init(frames: Int? = nil, duration: Duration? = nil, servesOn: Bool = false) {
        self.frames = frames
        self.duration = duration
        self.servesOn = servesOn
    }

    /// The duration after which the source is not needed any more; nil for no limit.
    var sourceDuration: Duration? { servesOn ? nil : duration }

    /// Whether so many encoded frames are enough.
    func isReached(byFrames count: Int) -> Bool { frames.map { count >= $0 } ?? false }

    /// Whether a picture comes too late.
    func isReached(at timestamp: Instant, since first: Instant) -> Bool {
        duration.map { timestamp - first >= $0 } ?? false
    }
}
