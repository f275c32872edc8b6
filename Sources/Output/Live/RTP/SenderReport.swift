import CamPlatform

/// Tells receivers which wall-clock time a stream's times mean (RFC 3550, 6.4.1), and the stream's name (6.5.1).
struct SenderReport {
    /// The stream's.
    let source: UInt32
    /// Where its reports go.
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

    /// Appends that a stream has ended (RFC 3550, 6.6): a server then writes out what it holds back.
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
