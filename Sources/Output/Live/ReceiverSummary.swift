/// Who received a live output's stream, and how much of it.
public struct ReceiverSummary: Sendable, Equatable {
    /// How many receivers there were in total.
    public var count = 0
    /// How many more were refused, because there were as many as the limit allows.
    public var refused = 0
    /// What is known of each receiver; of those that have left, only the latest 256.
    public var known: [ReceiverStatistics] = []
    /// Bytes that receivers took in total.
    public var bytes = 0
    /// Whole access units that receivers took in total.
    public var units = 0
    /// IDRs among these.
    public var keyframes = 0
    /// Whether the output connects out: then what no receiver takes is lost.
    public var mustBeTaken = false

    /// No receivers.
    public init() {}
}
