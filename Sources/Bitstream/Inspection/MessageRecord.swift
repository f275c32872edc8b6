/// Supplemental enhancement information of one payload type in a stream.
public struct MessageRecord: Equatable, Sendable {
    /// `payloadType` (Annex D).
    public let payloadType: Int
    /// The standard's name of it, such as `recovery_point`.
    public let name: String
    /// Number of messages.
    public internal(set) var count: Int
    /// The text in the first one, where it is user data with text.
    public let text: String?
}
