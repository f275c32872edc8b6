/// How far a session got; outlives it. Used by the encode thread.
final class EncoderProgress {
    /// At least one access unit came out whole.
    var hasProduced = false
}
