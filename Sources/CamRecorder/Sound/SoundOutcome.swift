import CamSound

/// What became of a recording's sound.
public struct SoundOutcome: Sendable {
    /// ALSA's name of the microphone.
    public let microphone: String
    /// Whether it was ever heard.
    public let isHeard: Bool
    /// What was recorded.
    public let description: SoundDescription
    /// What was done to it.
    public let statistics: SoundStatistics
    /// How often samples were lost because they were not read in time.
    public let overruns: Int
    /// How often the microphone was lost.
    public let outages: Int
    /// Packets that an output had no room for, over all outputs.
    public let lost: Int
    /// Why it ended early; nil if it did not.
    public let error: SoundError?
}
