import Bitstream
import Testing

/// A packet within an RTSP connection, as a receiver reads it.
struct RTPPacket {
    let channel: UInt8
    let bytes: [UInt8]

    /// The packets of whole bytes.
    static func all(in bytes: [UInt8]) throws -> [RTPPacket] {
        var (packets, rest) = ([RTPPacket](), bytes[...])
        while !rest.isEmpty {
            try #require(rest.count >= 4 && rest.first == UInt8(ascii: "$"))
            let head = Array(rest.prefix(4))
            let length = Int(head[2]) << 8 | Int(head[3])
            try #require(rest.count >= 4 + length && length >= 12)
            packets.append(RTPPacket(channel: head[1], bytes: Array(rest.dropFirst(4).prefix(length))))
            rest = rest.dropFirst(4 + length)
        }
        return packets
    }

    private func number(at offset: Int, _ count: Int) -> UInt64 {
        bytes[offset..<offset + count].reduce(0) { $0 << 8 | UInt64($1) }
    }

    var hasMarker: Bool { bytes[1] & 0x80 != 0 }
    var type: UInt8 { bytes[1] & 0x7F }
    var sequence: UInt16 { UInt16(number(at: 2, 2)) }
    var timestamp: UInt32 { UInt32(number(at: 4, 4)) }
    var source: UInt32 { UInt32(number(at: 8, 4)) }
    var payload: [UInt8] { Array(bytes[12...]) }

    struct Report {
        let source: UInt32
        /// Since 1970.
        let seconds: Double
        let timestamp: UInt32
        let packets: UInt32
        let bytes: UInt32
    }

    /// What it says as a sender report; nil if it is none.
    var report: Report? {
        guard channel % 2 == 1, bytes.count >= 28, type == 200 & 0x7F, bytes[0] == 0x80 else { return nil }
        return Report(
            source: UInt32(number(at: 4, 4)),
            seconds: Double(number(at: 8, 4)) - 2_208_988_800 + Double(number(at: 12, 4)) / 0x1p32,
            timestamp: UInt32(number(at: 16, 4)), packets: UInt32(number(at: 20, 4)),
            bytes: UInt32(number(at: 24, 4)))
    }

    /// Puts fragments together (RFC 6184, 5.8; RFC 7798, 4.4.3).
    static func nalUnits(of packets: [RTPPacket], _ codec: Codec) -> [[UInt8]] {
        var units: [[UInt8]] = []
        for payload in packets.map(\.payload) {
            switch codec {
            case .h264 where payload[0] & 0x1F == 28:
                if payload[1] & 0x80 != 0 { units.append([payload[0] & 0xE0 | payload[1] & 0x1F]) }
                units[units.count - 1] += payload[2...]
            case .hevc where payload[0] >> 1 & 0x3F == 49:
                if payload[2] & 0x80 != 0 {
                    units.append([payload[0] & 0x81 | (payload[2] & 0x3F) << 1, payload[1]])
                }
                units[units.count - 1] += payload[3...]
            default: units.append(payload)
            }
        }
        return units
    }
}
