import CamControlProtocol
import Output
import CamPlatform

extension ReceiverReport {
    init(_ statistics: ReceiverStatistics, output: String) {
        self.init(
            output: output, peer: statistics.peer, joinedSeconds: statistics.joined.inSeconds,
            leftSeconds: statistics.left?.inSeconds, bytes: statistics.bytes, units: statistics.units,
            dropped: statistics.dropped,
            longestLagMilliseconds: statistics.longestLag.inSeconds * 1e3,
            unconfirmedBytes: statistics.unconfirmedBytes, left: statistics.departure?.description)
    }

    /// Returns a live output's known connections; none for other outputs.
    public static func all(of ledger: ReceiverLedger?, output: String) -> [ReceiverReport] {
        ledger?.content.receivers.map { ReceiverReport($0, output: output) } ?? []
    }
}
