/// One stream's packets (RFC 3550, 5.1), each preceded by its channel and length for a connection that carries several
/// streams (RFC 2326, 10.12).
struct RTPStream {
    /// Identifies the stream among those of a session.
    let source: UInt32
    private let channel: InterleavedPacket.Channel
    private let payloadType: UInt8
    private var sequence: UInt16
    /// Packets and bytes of payload so far, as sender reports count them.
    private(set) var packetCount: UInt32 = 0
    private(set) var byteCount: UInt32 = 0

    /// The bytes after the header: a server can pass the packets on over UDP, within an Ethernet frame of 1500 bytes.
    static let mostPayload = 1400
    /// Of a packet's header.
    static let headerLength = 12
    /// Of the channel and the length before a packet.
    static let prefixLength = 4

    /// - Parameters:
    ///   - payloadType: the dynamic one that the session description names.
    ///   - source: random, so that no two streams of a session share it.
    ///   - sequence: the first packet's number, random as well.
    init(_ channel: InterleavedPacket.Channel, payloadType: UInt8, source: UInt32, sequence: UInt16) {
        (self.channel, self.payloadType, self.source, self.sequence) = (
            channel, payloadType, source, sequence
        )
    }

    /// Appends what precedes a packet's payload.
    mutating func begin(payload: Int, hasMarker: Bool, timestamp: UInt32, to bytes: inout [UInt8]) {
        InterleavedPacket.begin(channel, length: Self.headerLength + payload, to: &bytes)
        bytes.append(2 << 6)
        bytes.append((hasMarker ? 0x80 : 0) | payloadType)
        bytes.append(bigEndian: sequence)
        bytes.append(bigEndian: timestamp)
        bytes.append(bigEndian: source)
        sequence &+= 1
        packetCount &+= 1
        byteCount &+= UInt32(truncatingIfNeeded: payload)
    }
}
