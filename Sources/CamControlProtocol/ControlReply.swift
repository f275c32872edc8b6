/// The reply to a command on the control socket. Property names are JSON keys.
public struct ControlReply: Codable, Sendable {
    /// Whether the command was accepted. If an encoder then cannot carry it out, the recording warns.
    public let ok: Bool
    /// Why the command was refused; nil if it was accepted.
    public let error: String?
    /// After a rate change: whether the encoder needs a new session, which begins with a keyframe.
    public var keyframeForced: Bool?
    /// After `stats`.
    public var stats: RecordingStatistics?
    /// After `controls`: all of them; after `control`: those that were set, as they are now.
    public var controls: [ControlReport]?
    /// After `snapshot` and `doctor`: the length of what follows the reply.
    public var bytes: Int?

    /// Creates a reply; with an error, the command was refused.
    public init(
        error: String? = nil, keyframeForced: Bool? = nil, stats: RecordingStatistics? = nil,
        controls: [ControlReport]? = nil, bytes: Int? = nil
    ) {
        ok = error == nil
        self.error = error
        (self.keyframeForced, self.stats, self.controls, self.bytes) = (
            keyframeForced, stats, controls, bytes
        )
    }
}
