import Output

/// One connection of a live output, as the report and `stats` have it. The names are the JSON's.
public struct ReceiverReport: Encodable, Sendable {
    /// The live output that it takes.
    public let output: String
    public let peer: String
    public let joinedSeconds: Double
    /// Nil while it is connected.
    public let leftSeconds: Double?
    public let bytes: Int
    /// Access units that it got whole.
    public let units: Int
    /// Access units left out because it was too slow.
    public let dropped: Int
    public let longestLagMilliseconds: Double
    /// Bytes that had not been confirmed when it left; if the connection broke they may be lost.
    public let unconfirmedBytes: Int
    /// Why it left; nil while it is connected.
    public let left: String?

    init(_ statistics: ReceiverStatistics, output: String) {
        self.output = output
        peer = statistics.peer
        joinedSeconds = Double(statistics.joined) / 1e9
        leftSeconds = statistics.left.map { Double($0) / 1e9 }
        bytes = statistics.bytes
        units = statistics.units
        dropped = statistics.dropped
        longestLagMilliseconds = Double(statistics.longestLag) / 1e6
        unconfirmedBytes = statistics.unconfirmedBytes
        left = statistics.departure?.description
    }

    /// The connections that a live output knows; none of other outputs.
    public static func all(of ledger: ReceiverLedger?, output: String) -> [ReceiverReport] {
        ledger?.content.receivers.map { ReceiverReport($0, output: output) } ?? []
    }
}
