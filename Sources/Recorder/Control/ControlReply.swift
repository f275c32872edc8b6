/// The answer to a command on the control socket. The names are the JSON's.
public struct ControlReply: Encodable, Sendable {
    /// Whether the command is being carried out: what an encoder then cannot do is a warning of the recording's.
    let ok: Bool
    let error: String?
    /// After a change of rate: whether the encoder takes it only in another session, which begins with a keyframe.
    let keyframeForced: Bool?
    let stats: RecordingStatistics?

    init(error: String? = nil, isKeyframeForced: Bool? = nil, stats: RecordingStatistics? = nil) {
        ok = error == nil
        self.error = error
        keyframeForced = isKeyframeForced
        self.stats = stats
    }
}
