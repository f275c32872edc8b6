/// How far a session got. Outlives the session; used by the encode thread.
final class EncoderProgress {
    /// Whether at least one whole access unit came out.
    var hasProduced = false
}
