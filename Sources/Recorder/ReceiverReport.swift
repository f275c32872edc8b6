import Output
import Time

/// One connection of a live output, as in the report and `stats`. Property names are JSON keys.
public struct ReceiverReport: Codable, Sendable {
    /// The live output it is connected to.
    public let output: String
    public let peer: String
    public let joinedSeconds: Double
    /// Nil while it is connected.
    public let leftSeconds: Double?
    public let bytes: Int
    /// Access units that it received completely.
    public let units: Int
    /// Access units skipped because it was too slow.
    public let dropped: Int
    public let longestLagMilliseconds: Double
    /// Bytes not acknowledged when it left; lost if the connection broke before they arrived.
    public let unconfirmedBytes: Int
    /// Why it left; nil while it is connected.
    public let left: String?

    init(_ statistics: ReceiverStatistics, output: String) {
        self.output = output
        peer = statistics.peer
        joinedSeconds = statistics.joined.inSeconds
        leftSeconds = statistics.left?.inSeconds
        bytes = statistics.bytes
        units = statistics.units
        dropped = statistics.dropped
        longestLagMilliseconds = statistics.longestLag.inSeconds * 1e3
        unconfirmedBytes = statistics.unconfirmedBytes
        left = statistics.departure?.description
    }

    /// Returns a live output's known connections; none for other outputs.
    public static func all(of ledger: ReceiverLedger?, output: String) -> [ReceiverReport] {
        ledger?.content.receivers.map { ReceiverReport($0, output: output) } ?? []
    }
}
