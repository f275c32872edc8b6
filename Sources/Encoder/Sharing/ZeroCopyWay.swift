/// Whether a GPU reads the camera's pictures without a copy.
public enum ZeroCopyWay: String, Sendable, Hashable, CaseIterable {
    /// If it does so correctly.
    case auto
    /// An error if it cannot.
    case on
    /// Pictures are copied.
    case off

    /// Allows pictures to be copied.
    /// - Parameter reason: why they must be, for people.
    /// - Throws: if they must not be.
    func allowCopies(because reason: String) throws(EncoderError) {
        guard self == .on else { return }
        throw EncoderError(.unsupported("--zero-copy on: \(reason); use --zero-copy auto"))
    }
}
