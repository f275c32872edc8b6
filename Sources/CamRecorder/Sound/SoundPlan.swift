import CamSound

/// The sound of a recording that is about to start.
public struct SoundPlan {
    /// Codes it. Only the recording's sound thread uses it from now on.
    public let encoder: SoundEncoder
    /// Reads the microphone. Only the recording takes from it from now on.
    public let microphone: MicrophoneReader
    /// ALSA's name of the microphone.
    public let name: String
    /// Receives what happens; called on the sound thread.
    public let report: @Sendable (SoundEvent) -> Void

    /// Creates a plan with an open encoder.
    public init(
        _ encoder: SoundEncoder, microphone: MicrophoneReader, name: String,
        report: @escaping @Sendable (SoundEvent) -> Void = { _ in }
    ) {
        (self.encoder, self.microphone, self.name, self.report) = (encoder, microphone, name, report)
    }
}
