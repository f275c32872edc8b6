import Output

/// The forms in which viewers get a stream.
enum LiveForm: Hashable, Sendable, CaseIterable {
    /// A message for each picture, over a WebSocket.
    case messages
    case mp4
    case transportStream

    /// The container's format; nil for messages.
    var container: ContainerFormat? {
        switch self {
        case .messages: nil
        case .mp4: .mp4
        case .transportStream: .transportStream
        }
    }

    /// The form of a container; nil for one that is not offered.
    init?(_ container: ContainerFormat) {
        switch container {
        case .mp4: self = .mp4
        case .transportStream: self = .transportStream
        case .matroska: return nil
        }
    }

    /// The media type of a stream in this form (RFC 6381).
    func contentType(of facts: StreamFacts) -> String {
        switch self {
        case .messages: "application/octet-stream"
        // Parameter sets are in the header: then H.265 has another name (ISO/IEC 14496-15, 8.4.1).
        case .mp4: "video/mp4; codecs=\"\(facts.codec.description.replacing("hev1.", with: "hvc1."))\""
        case .transportStream: "video/mp2t"
        }
    }
}
