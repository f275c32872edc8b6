/// A remark on how an encoder was set up, in one sentence.
public struct EncoderNote: Sendable, Hashable, CustomStringConvertible {
    /// The sentence.
    public let description: String
    /// Whether the user requested something else.
    public let contradictsRequest: Bool

    init(_ description: String, contradictsRequest: Bool) {
        self.description = description
        self.contradictsRequest = contradictsRequest
    }
}
