import Sound
import Threading

/// The sound of a recording that is about to start.
public struct SoundPlan {
    /// Codes it. Only the recording's sound thread uses it from now on.
    public let encoder: SoundEncoder
    /// An open microphone, until it is taken: whoever has it keeps the device open.
    private let microphone: Handover<(any SoundSource)?>
    /// Opens the microphone again; called on the sound thread.
    public let open: @Sendable () throws(SoundError) -> any SoundSource
    /// Receives what happens; called on the sound thread.
    public let report: @Sendable (SoundEvent) -> Void

    /// Creates a plan with an open encoder.
    /// - Parameter microphone: nil if it could not be opened yet.
    public init(
        _ encoder: SoundEncoder, microphone: (any SoundSource)?,
        open: @escaping @Sendable () throws(SoundError) -> any SoundSource,
        report: @escaping @Sendable (SoundEvent) -> Void = { _ in }
    ) {
        (self.encoder, self.open, self.report) = (encoder, open, report)
        self.microphone = Handover(microphone)
    }

    /// Returns the microphone, once.
    func takeMicrophone() -> (any SoundSource)? { microphone.value.take() }
}
