/// The reply to a command on the control socket. Property names are JSON keys.
public struct ControlReply: Codable, Sendable {
    /// Whether the command was accepted. If an encoder then cannot carry it out, the recording warns.
    let ok: Bool
    let error: String?
    /// After a rate change: whether the encoder needs a new session, which begins with a keyframe.
    let keyframeForced: Bool?
    public let stats: RecordingStatistics?
    /// After `snapshot`: the length of the file that follows the reply.
    public let bytes: Int?

    init(
        error: String? = nil, isKeyframeForced: Bool? = nil, stats: RecordingStatistics? = nil,
        bytes: Int? = nil
    ) {
        ok = error == nil
        self.bytes = bytes
        self.error = error
        keyframeForced = isKeyframeForced
        self.stats = stats
    }
}
