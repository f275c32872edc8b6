/// Supplemental enhancement information of one payload type in a stream.
public struct MessageRecord: Equatable, Sendable {
    /// `payloadType` (Annex D).
    public let payloadType: Int
    /// The standard's name for it, such as `recovery_point`.
    public let name: String
    /// Number of messages.
    public internal(set) var count: Int
    /// The text in the first one, if it is user data with text, or the words for what it states.
    public let text: String?
}

/// Collects a stream's supplemental enhancement information.
struct MessageCatalogue: Sendable {
    /// Payload types that are kept; the standards have a few hundred.
    private static let limit = 256
    /// Characters of a text that are kept.
    private static let textLimit = 1000

    private(set) var records: [MessageRecord] = []

    mutating func add(_ message: SEIMessage) {
        if let index = records.firstIndex(where: { $0.payloadType == message.payloadType }) {
            records[index].count += 1
        } else if records.count < Self.limit {
            records.append(
                MessageRecord(
                    payloadType: message.payloadType, name: message.name, count: 1, text: Self.text(message)))
        }
    }

    private static func text(_ message: SEIMessage) -> String? {
        switch message.content {
        case .unregisteredUserData(let data): data.text.map { String($0.prefix(textLimit)) }
        case .alternativeTransfer(let preferred): VideoUsabilityTables.transferCharacteristics(preferred)
        default: nil
        }
    }
}
