import Bitstream
import Time

/// A stream as RTP packets within a connection, each picture at its capture time.
///
/// A sender report precedes each IDR, so that a receiver knows the wall-clock time from its first picture on, and the
/// others at least every five seconds.
final class RTPFraming: LiveFraming {
    private var packetizer: RTPPacketizer
    private let clock: any TimeSource
    /// The time on the stream's clock of its first picture: random, as RFC 3550, 5.1 asks.
    private let firstTimestamp: UInt32
    private var firstCapture: Instant?
    private var nextReport = Instant.distantPast

    private static let reportInterval = Duration.seconds(5)
    /// Ticks a second (RFC 6184, 8.2.1; RFC 7798, 7.1).
    private static let rate: Int128 = 90_000
    /// The longest time from capture to here, beyond which a source has a clock of its own.
    private static let longestDelay = Duration.seconds(10)

    init(
        codec: Codec, clock: any TimeSource = SystemTime(), using random: inout some RandomNumberGenerator
    ) {
        packetizer = RTPPacketizer(
            codec: codec, source: .random(in: 1 ... .max, using: &random),
            sequence: .random(in: 0 ... .max, using: &random))
        firstTimestamp = .random(in: 0 ... .max, using: &random)
        self.clock = clock
    }

    /// Servers follow the parameter sets in the stream.
    func beginStream() {}

    /// A server learns everything before.
    var prologue: [UInt8] { [] }

    /// Sent after the stream's end.
    var goodbye: [UInt8] {
        var bytes: [UInt8] = []
        SenderReport.appendGoodbye(of: packetizer.source, to: &bytes)
        return bytes
    }

    func frame(_ unit: AccessUnit, into bytes: inout [UInt8]) {
        let timestamp = timestamp(at: unit.timestamp)
        let now = clock.now
        if unit.isIDR || now >= nextReport {
            nextReport = now + Self.reportInterval
            SenderReport(
                source: packetizer.source, wallTime: wallTime(of: unit), timestamp: timestamp,
                packetCount: packetizer.packetCount, byteCount: packetizer.byteCount
            ).append(to: &bytes)
        }
        packetizer.append(unit, timestamp: timestamp, to: &bytes)
    }

    private func timestamp(at capture: Instant) -> UInt32 {
        let first = firstCapture ?? capture
        firstCapture = first
        let nanoseconds = Int128((capture - first).inNanoseconds)
        return firstTimestamp &+ UInt32(truncatingIfNeeded: nanoseconds * Self.rate / 1_000_000_000)
    }

    /// When a picture was captured. Asked for every time: the clock may be set while the stream runs.
    private func wallTime(of unit: AccessUnit) -> WallTime {
        // A driver may name the end of an exposure or of a transfer that is not over yet.
        let isPlausible = (clock.now - unit.timestamp).magnitude <= Self.longestDelay
        return isPlausible ? clock.wallTime(at: unit.timestamp) : clock.wallTime
    }
}
