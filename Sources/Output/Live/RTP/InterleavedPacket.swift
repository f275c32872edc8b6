/// A packet within an RTSP connection (RFC 2326, 10.12).
enum InterleavedPacket {
    /// The channels that camrec asks the server for.
    enum Channel: UInt8 {
        case pictures = 0
        case pictureReports = 1
        case sound = 2
        case soundReports = 3
    }

    /// Appends what precedes a packet.
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
