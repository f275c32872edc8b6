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

    /// Creates the report of one connection.
    public init(
        output: String, peer: String, joinedSeconds: Double, leftSeconds: Double?, bytes: Int, units: Int,
        dropped: Int, longestLagMilliseconds: Double, unconfirmedBytes: Int, left: String?
    ) {
        (self.output, self.peer, self.joinedSeconds) = (output, peer, joinedSeconds)
        (self.leftSeconds, self.bytes, self.units, self.dropped) = (leftSeconds, bytes, units, dropped)
        (self.longestLagMilliseconds, self.unconfirmedBytes) = (longestLagMilliseconds, unconfirmedBytes)
        self.left = left
    }
}
