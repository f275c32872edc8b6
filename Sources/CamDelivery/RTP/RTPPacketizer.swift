import Bitstream
import CamSound

/// Splits NAL units into RTP packets (RFC 3550, RFC 6184, RFC 7798).
///
/// A NAL unit that fits is a packet of its own; a longer one is split into fragmentation units.
struct RTPPacketizer {
    /// The dynamic payload type that the session description names.
    static let payloadType: UInt8 = 96
    private(set) var stream: RTPStream
    private let codec: Codec

    /// - Parameters:
    ///   - source: random, so that no two streams of a session share it.
    ///   - sequence: the first packet's number, random as well.
    init(codec: Codec, source: UInt32, sequence: UInt16) {
        self.codec = codec
        stream = RTPStream(.pictures, payloadType: Self.payloadType, source: source, sequence: sequence)
    }

    /// Appends a picture's packets.
    /// - Parameter timestamp: its time, on the stream's clock of 90 kHz.
    mutating func append(_ unit: AccessUnit, timestamp: UInt32, to bytes: inout [UInt8]) {
        unit.withUnsafeBytes { content in
            for (index, nalUnit) in unit.units.enumerated() {
                append(
                    UnsafeRawBufferPointer(rebasing: content[nalUnit.bytes]),
                    isLast: index == unit.units.count - 1,
                    timestamp: timestamp, to: &bytes)
            }
        }
    }

    private mutating func append(
        _ nalUnit: UnsafeRawBufferPointer, isLast: Bool, timestamp: UInt32, to bytes: inout [UInt8]
    ) {
        guard nalUnit.count > RTPStream.mostPayload else {
            stream.begin(payload: nalUnit.count, hasMarker: isLast, timestamp: timestamp, to: &bytes)
            bytes += nalUnit
            return
        }
        let header = FragmentHeader(of: nalUnit, codec)
        let mostContent = RTPStream.mostPayload - header.length
        var rest = nalUnit.dropFirst(header.replacedLength)
        var isFirst = true
        while !rest.isEmpty {
            let part = rest.prefix(mostContent)
            rest = rest.dropFirst(part.count)
            stream.begin(
                payload: header.length + part.count, hasMarker: isLast && rest.isEmpty, timestamp: timestamp,
                to: &bytes)
            header.append(isFirst: isFirst, isLast: rest.isEmpty, to: &bytes)
            bytes += part
            isFirst = false
        }
    }
}

/// The header of each fragment of a NAL unit, which replaces the unit's header.
private struct FragmentHeader {
    /// The indicator: the unit's header with the type of a fragmentation unit.
    private let indicator: (UInt8, UInt8?)
    private let type: UInt8

    /// RFC 6184, 5.8 (FU-A); RFC 7798, 4.4.3.
    init(of nalUnit: UnsafeRawBufferPointer, _ codec: Codec) {
        switch codec {
        case .h264:
            indicator = (nalUnit[0] & 0xe0 | 28, nil)
            type = nalUnit[0] & 0x1f
        case .hevc:
            indicator = (nalUnit[0] & 0x81 | 49 << 1, nalUnit[1])
            type = nalUnit[0] >> 1 & 0x3f
        }
    }

    /// In bytes.
    var length: Int { indicator.1 == nil ? 2 : 3 }
    /// The bytes of the NAL unit's header, which it stands for.
    var replacedLength: Int { length - 1 }

    func append(isFirst: Bool, isLast: Bool, to bytes: inout [UInt8]) {
        bytes.append(indicator.0)
        if let second = indicator.1 { bytes.append(second) }
        bytes.append((isFirst ? 0x80 : 0) | (isLast ? 0x40 : 0) | type)
    }
}

// MARK: - Sound

/// Puts packets of sound into RTP packets: AAC (RFC 3640, 3.3.6) and Opus (RFC 7587).
struct SoundPacketizer {
    /// The dynamic payload type that the session description names.
    static let payloadType: UInt8 = 97
    private(set) var stream: RTPStream
    private let codec: SoundCodec

    /// The AU header section: its length, and one header with the access unit's size (RFC 3640, 3.2.1).
    private static let headersLength = 4

    init(codec: SoundCodec, source: UInt32, sequence: UInt16) {
        self.codec = codec
        stream = RTPStream(.sound, payloadType: Self.payloadType, source: source, sequence: sequence)
    }

    /// Appends a packet of sound; AAC in several packets if it is long.
    /// - Parameter timestamp: its time, in samples.
    mutating func append(_ sound: SoundPacket, timestamp: UInt32, to bytes: inout [UInt8]) {
        sound.withUnsafeBytes { content in
            switch codec {
            case .opus, .flac:
                stream.begin(payload: content.count, hasMarker: false, timestamp: timestamp, to: &bytes)
                bytes += content
            case .aac: appendAccessUnit(content, timestamp: timestamp, to: &bytes)
            }
        }
    }

    /// Each fragment has the whole access unit's size; the marker is on the last one.
    private mutating func appendAccessUnit(
        _ content: UnsafeRawBufferPointer, timestamp: UInt32, to bytes: inout [UInt8]
    ) {
        var rest = content[...]
        while !rest.isEmpty {
            let part = rest.prefix(RTPStream.mostPayload - Self.headersLength)
            rest = rest.dropFirst(part.count)
            stream.begin(
                payload: Self.headersLength + part.count, hasMarker: rest.isEmpty, timestamp: timestamp,
                to: &bytes)
            // 16 bits of header: the size in 13 of them, and the index 0.
            bytes.append(bigEndian: UInt16(16))
            bytes.append(bigEndian: UInt16(truncatingIfNeeded: content.count << 3))
            bytes += part
        }
    }
}

// MARK: - Headers

/// One stream's packets (RFC 3550, 5.1), each preceded by its channel and length for a connection that carries several
/// streams (RFC 2326, 10.12).
struct RTPStream {
    /// Identifies the stream within a session (SSRC).
    let source: UInt32
    private let channel: InterleavedPacket.Channel
    private let payloadType: UInt8
    private var sequence: UInt16
    /// Packets and bytes of payload so far, as sender reports count them.
    private(set) var packetCount: UInt32 = 0
    private(set) var byteCount: UInt32 = 0

    /// The bytes after the header: a server can pass the packets on over UDP, within an Ethernet frame of 1500 bytes.
    static let mostPayload = 1400
    /// The length of a packet's header.
    static let headerLength = 12
    /// The length of the prefix before a packet: channel and length.
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

    /// Appends the prefix and the header of a packet.
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

/// A packet within an RTSP connection (RFC 2326, 10.12).
enum InterleavedPacket {
    /// The channels that camrec asks the server for.
    enum Channel: UInt8 {
        case pictures = 0
        case pictureReports = 1
        case sound = 2
        case soundReports = 3
    }

    /// Appends the prefix of a packet.
    /// - Parameter length: the packet's bytes, at most 65,535.
    static func begin(_ channel: Channel, length: Int, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "$"))
        bytes.append(channel.rawValue)
        bytes.append(bigEndian: UInt16(clamping: length))
    }
}

extension [UInt8] {
    /// Appends a number, the most significant byte first.
    mutating func append(bigEndian number: some FixedWidthInteger) {
        for shift in stride(from: type(of: number).bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
