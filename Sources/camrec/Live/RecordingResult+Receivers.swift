import Output

extension RecordingResult {
    /// One connection of a live output.
    struct Receiver: Encodable {
        /// The live output that it took.
        let output: String
        let peer: String
        let joinedSeconds: Double
        /// Nil while it is there.
        let leftSeconds: Double?
        let bytes: Int
        /// Access units that it got whole.
        let units: Int
        /// Access units left out because it was too slow.
        let dropped: Int
        let longestLagMilliseconds: Double
        /// Bytes that had not been confirmed when it left; of a broken connection they may be lost.
        let unconfirmedBytes: Int
        /// Why it left; nil while it is there.
        let left: String?

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

        /// Everybody that the live outputs know.
        static func all(of sinks: [any AccessUnitSink]) -> [Receiver] {
            sinks.flatMap { sink in
                (sink.receivers?.known ?? []).map { Receiver($0, output: sink.name) }
            }
        }
    }
}
