import Bitstream
import CamPlatform
import CamSound

/// Pictures and sound as RTP packets within a connection, each at its capture time.
///
/// A sender report precedes each IDR, which tells a receiver the wall-clock time of its first picture, and
/// follows at least every five seconds. Each is followed at once by a report for the sound, so both stay
/// synchronized even if the clock is set.
final class RTPFraming: LiveFraming {
    private var packetizer: RTPPacketizer
    private var pictureClock: RTPClock
    /// Nil without sound.
    private var sound: (packetizer: SoundPacketizer, clock: RTPClock)?
    private let clock: any TimeSource
    /// When the first picture was captured: sound before it is left out.
    private var firstCapture: Instant?
    private var nextReport = Instant.distantPast
    private var nextSoundReport = Instant.distantPast

    private static let reportInterval = Duration.seconds(5)
    /// Ticks a second of pictures (RFC 6184, 8.2.1; RFC 7798, 7.1).
    private static let rate = 90_000
    /// The longest plausible time since capture; a source with a longer one uses another clock.
    private static let longestDelay = Duration.seconds(10)

    init(
        codec: Codec, sound: SoundDescription? = nil, clock: any TimeSource = SystemTime(),
        using random: inout some RandomNumberGenerator
    ) {
        packetizer = RTPPacketizer(
            codec: codec, source: .random(in: 1 ... .max, using: &random),
            sequence: .random(in: 0 ... .max, using: &random))
        pictureClock = RTPClock(rate: Self.rate, first: .random(in: 0 ... .max, using: &random))
        if let sound {
            let packetizer = SoundPacketizer(
                codec: sound.codec, source: .random(in: 1 ... .max, using: &random),
                sequence: .random(in: 0 ... .max, using: &random))
            self.sound = (
                packetizer, RTPClock(rate: sound.format.rate, first: .random(in: 0 ... .max, using: &random))
            )
        }
        self.clock = clock
    }

    /// Servers follow the parameter sets in the stream.
    func beginStream() {}

    /// A server gets the session description in advance.
    var prologue: [UInt8] { [] }

    var takesSound: Bool { sound != nil }

    /// Sent after the stream's end.
    var goodbye: [UInt8] {
        var bytes: [UInt8] = []
        SenderReport.appendGoodbye(of: packetizer.stream.source, to: &bytes)
        if let sound {
            SenderReport.appendGoodbye(of: sound.packetizer.stream.source, on: .soundReports, to: &bytes)
        }
        return bytes
    }

    func frame(_ unit: AccessUnit, into bytes: inout [UInt8]) {
        firstCapture = firstCapture ?? unit.timestamp
        let timestamp = pictureClock.timestamp(at: unit.timestamp)
        let now = clock.now
        if unit.isIDR || now >= nextReport {
            nextReport = now + Self.reportInterval
            report(packetizer.stream, .pictureReports, at: unit.timestamp, timestamp).append(to: &bytes)
            // The next packet of sound brings its report.
            nextSoundReport = .distantPast
        }
        packetizer.append(unit, timestamp: timestamp, to: &bytes)
    }

    func frame(_ packet: SoundPacket, into bytes: inout [UInt8]) {
        guard var sound, let firstCapture, packet.timestamp >= firstCapture else { return }
        let timestamp = sound.clock.timestamp(at: packet.timestamp)
        let now = clock.now
        if now >= nextSoundReport {
            nextSoundReport = now + Self.reportInterval
            report(sound.packetizer.stream, .soundReports, at: packet.timestamp, timestamp).append(to: &bytes)
        }
        sound.packetizer.append(packet, timestamp: timestamp, to: &bytes)
        self.sound = sound
    }

    private func report(
        _ stream: RTPStream, _ channel: InterleavedPacket.Channel, at capture: Instant, _ timestamp: UInt32
    ) -> SenderReport {
        SenderReport(
            source: stream.source, channel: channel, wallTime: wallTime(at: capture), timestamp: timestamp,
            packetCount: stream.packetCount, byteCount: stream.byteCount)
    }

    /// The wall-clock time of a capture time, computed for every report: the clock may be set while the
    /// stream runs.
    private func wallTime(at capture: Instant) -> WallTime {
        // A driver may name the end of an exposure or of a transfer that is not over yet.
        let isPlausible = (clock.now - capture).magnitude <= Self.longestDelay
        return isPlausible ? clock.wallTime(at: capture) : clock.wallTime
    }
}

/// Converts capture times to a stream's clock, which begins anywhere, as RFC 3550, 5.1 asks.
private struct RTPClock {
    private let rate: Int128
    private let first: UInt32
    private var firstCapture: Instant?

    /// - Parameters:
    ///   - rate: ticks a second.
    ///   - first: the random timestamp of the first picture or packet.
    init(rate: Int, first: UInt32) { (self.rate, self.first) = (Int128(rate), first) }

    mutating func timestamp(at capture: Instant) -> UInt32 {
        let start = firstCapture ?? capture
        firstCapture = start
        let nanoseconds = Int128((capture - start).inNanoseconds)
        return first &+ UInt32(truncatingIfNeeded: (nanoseconds * rate + 500_000_000) / 1_000_000_000)
    }
}

// MARK: - Sender reports

/// Tells receivers which wall-clock time a stream's times mean (RFC 3550, 6.4.1), and the stream's name (6.5.1).
struct SenderReport {
    /// The source identifier of the stream.
    let source: UInt32
    /// The channel for the stream's reports.
    var channel = InterleavedPacket.Channel.pictureReports
    /// When something in the stream happened, and when that is on the stream's clock.
    let wallTime: WallTime
    let timestamp: UInt32
    /// So far.
    let packetCount: UInt32
    let byteCount: UInt32

    /// From 1900, where NTP's times begin, to 1970 (RFC 5905, 6).
    private static let secondsBefore1970: Int64 = 2_208_988_800
    /// The canonical name: the same for all streams of a recording, and it says nothing about the machine.
    private static let name = Array("camrec".utf8)

    /// Appends it as a packet within a connection.
    func append(to bytes: inout [UInt8]) {
        // 28 bytes of report; 8 of description, the name with its type and length, and zeros to a multiple of 4.
        let text = 2 + Self.name.count
        let padding = 4 - text % 4
        InterleavedPacket.begin(channel, length: 28 + 8 + text + padding, to: &bytes)
        bytes += [2 << 6, 200]
        bytes.append(bigEndian: UInt16(6))
        bytes.append(bigEndian: source)
        bytes.append(bigEndian: networkTime)
        bytes.append(bigEndian: timestamp)
        bytes.append(bigEndian: packetCount)
        bytes.append(bigEndian: byteCount)
        bytes += [2 << 6 | 1, 202]
        bytes.append(bigEndian: UInt16((4 + text + padding) / 4))
        bytes.append(bigEndian: source)
        bytes += [1, UInt8(Self.name.count)]
        bytes += Self.name
        for _ in 0..<padding { bytes.append(0) }
    }

    /// Appends a BYE packet (RFC 3550, 6.6), on which a server writes out the data that it holds back.
    static func appendGoodbye(
        of source: UInt32, on channel: InterleavedPacket.Channel = .pictureReports, to bytes: inout [UInt8]
    ) {
        InterleavedPacket.begin(channel, length: 16, to: &bytes)
        // A packet of RTCP begins with a report, here one of nothing that was received.
        bytes += [2 << 6, 201, 0, 1]
        bytes.append(bigEndian: source)
        bytes += [2 << 6 | 1, 203, 0, 1]
        bytes.append(bigEndian: source)
    }

    /// Seconds in the upper half, and their fraction in the lower.
    private var networkTime: UInt64 {
        let nanoseconds = max(0, wallTime.nanoseconds)
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let fraction = (UInt64(rest) << 32) / 1_000_000_000
        return UInt64(truncatingIfNeeded: seconds &+ Self.secondsBefore1970) << 32 | fraction
    }
}
