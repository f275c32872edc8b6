/// How a recording makes way for a newer version of the program that is installed while it runs.
public struct Succession: Sendable, Hashable {
    /// Whether the recording ends at its next cut, so that the newer version continues with the next segment.
    public let endsAtCut: Bool

    /// Nothing may be recorded twice and nothing too long: a file would be read from its beginning again, and frames
    /// would be counted from zero.
    /// - Parameters:
    ///   - isRestarted: whether a service manager starts the newer version when this one ends.
    ///   - isSegmented: whether the outputs begin new files by themselves.
    ///   - isLive: whether the source shows the present.
    ///   - limits: when the recording ends by itself. A duration outlasts the process.
    public init(isRestarted: Bool, isSegmented: Bool, isLive: Bool, limits: RecordingLimits) {
        endsAtCut = isRestarted && isSegmented && isLive && limits.frames == nil
    }

    /// What the status says while the newer version waits.
    public var note: String {
        "a newer version waits for \(endsAtCut ? "the next segment" : "a restart")"
    }
}
