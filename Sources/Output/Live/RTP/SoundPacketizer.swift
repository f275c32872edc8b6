import CamSound

/// Puts packets of sound into RTP packets: AAC (RFC 3640, 3.3.6) and Opus (RFC 7587).
struct SoundPacketizer {
    /// The dynamic payload type that the session description names.
    static let payloadType: UInt8 = 97
    private(set) var stream: RTPStream
    private let codec: SoundCodec

    /// The length of the section with the one access unit's size, and that section (RFC 3640, 3.2.1).
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
