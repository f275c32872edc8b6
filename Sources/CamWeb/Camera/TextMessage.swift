import FoundationEssentials

/// The text messages of a live connection, as JSON.
struct TextMessage: Encodable {
    private let kind: Kind
    private var codec: String?
    private var width: Int?
    private var height: Int?
    private var state: State?
    private var reason: String?

    private enum Kind: String, Encodable { case format, status }
    private enum State: String, Encodable { case connecting, waiting, live, unavailable }

    init(_ facts: StreamFacts) {
        kind = .format
        (codec, width, height) = (facts.codec.description, facts.width, facts.height)
    }

    init(_ status: CameraStatus) {
        kind = .status
        switch status {
        case .connecting: state = .connecting
        case .waiting: state = .waiting
        case .live: state = .live
        case .unavailable(let reason): (state, self.reason) = (.unavailable, reason)
        }
    }

    /// The message on one line.
    var json: String { JSON.text(of: self) }
}

/// The page's data format.
enum JSON {
    /// The text of a value without floating-point numbers, which are all that cannot be encoded.
    static func text(of value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return "null" }
        return String(decoding: data, as: UTF8.self)
    }
}
