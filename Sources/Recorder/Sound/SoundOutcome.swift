import Sound

/// What became of a recording's sound.
public struct SoundOutcome: Sendable {
    /// The microphone; nil if there never was one.
    public let microphone: String?
    /// What was recorded.
    public let description: SoundDescription
    /// What was done to it.
    public let statistics: SoundStatistics
    /// How often the microphone had lost samples because they were not read in time.
    public let overruns: Int
    /// How often the microphone was lost.
    public let outages: Int
    /// Packets that an output had no room for, over all outputs.
    public let lost: Int
    /// Why it ended early; nil if it did not.
    public let error: SoundError?
}
