/// An encoder that was opened, and why the others were not.
struct OpenedEncoder {
    /// Open, and expecting its first picture.
    let encoder: VideoEncoder
    /// Why each encoder that would have come before it was passed over.
    let passedOver: [String]

    /// Opens the first encoder of the first back end that accepts the configuration.
    static func open(
        _ backends: [any EncoderBackend], _ attempt: consuming EncoderAttempt
    ) throws(EncoderError) -> OpenedEncoder {
        for backend in backends {
            attempt.beginBackend()
            if let encoder = try backend.open(&attempt) {
                return OpenedEncoder(encoder: encoder, passedOver: attempt.failures.map(\.reason))
            }
        }
        throw attempt.error
    }
}
