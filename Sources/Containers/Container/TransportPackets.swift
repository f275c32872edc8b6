import Glibc

/// Follows the packets of a transport stream (ITU-T H.222.0) from picture to picture, to detect pictures that
/// libavformat skips silently because a packet's header or the header of a picture (PES) is damaged.
///
/// Times stay unchecked.
struct TransportPackets {
    private let descriptor: Int32
    /// The length of the packets, and the place of the sync byte in them.
    private let (length, syncPlace): (Int, Int)
    /// The identifier of the video's packets.
    private let video: Int
    /// The offset of the next packet to check; nil if unknown.
    private var next: Int64? = 0
    /// The continuity counter of the video's latest packet; nil if unknown.
    private var counter: UInt8?
    /// The rest of a picture whose header states a length; nil if it states none.
    private var remainder: Int?

    private static let packetLength = 188
    private static let batch = 256

    /// - Returns: nil if the file does not begin with whole packets.
    init?(of descriptor: Int32, video: Int) {
        guard let packet = ContainerEnd.packet(of: descriptor) else { return nil }
        (self.descriptor, self.video, length, syncPlace) = (
            descriptor, video, packet.length, packet.syncPlace
        )
    }

    /// Forgets the position, because reading continues elsewhere.
    mutating func restart() { (next, counter, remainder) = (nil, nil, nil) }

    /// Advances to a picture that libavformat found: its first packet shows whether one before it is missing.
    /// - Parameter place: where the first packet is.
    /// - Returns: where the structure is damaged; nil if it is intact up to there, or if that is unknown.
    mutating func skip(to place: Int64) -> Int64? {
        // The place is that of the packet or of its sync byte.
        guard let start = [place - Int64(syncPlace), place].first(where: isPacket) else {
            restart()
            return nil
        }
        // The next picture of the same packets.
        if let next, start < next { return nil }
        guard let from = next, (start - from) % Int64(length) == 0 else {
            defer { restart(at: start) }
            return next
        }
        return check(from, packetCount: Int((start - from) / Int64(length)) + 1)
    }

    /// Checks the packets after the latest picture, as far as libavformat has read.
    mutating func rest(upTo limit: Int64) -> Int64? {
        next.flatMap { check($0, packetCount: max(0, Int((limit - $0) / Int64(length)))) }
    }

    private mutating func restart(at place: Int64) {
        restart()
        next = place
    }

    private func isPacket(at place: Int64) -> Bool {
        var byte: UInt8 = 0
        return place >= 0 && pread(descriptor, &byte, 1, off_t(place + Int64(syncPlace))) == 1
            && byte == ContainerEnd.syncByte
    }

    private mutating func check(_ from: Int64, packetCount count: Int) -> Int64? {
        next = from + Int64(count * length)
        var damage: Int64?
        withUnsafeTemporaryAllocation(byteCount: Self.batch * length, alignment: 1) { bytes in
            var done = 0
            while done < count {
                let offset = from + Int64(done * length)
                let wanted = min(Self.batch, count - done)
                guard pread(descriptor, bytes.baseAddress, wanted * length, off_t(offset)) == wanted * length
                else { break }
                for index in 0..<wanted {
                    let packet = UnsafeRawBufferPointer(
                        rebasing: bytes[(index * length + syncPlace)...].prefix(Self.packetLength))
                    if !isIntact(packet) { damage = damage ?? offset + Int64(index * length) }
                }
                done += wanted
            }
        }
        return damage
    }

    private mutating func isIntact(_ packet: UnsafeRawBufferPointer) -> Bool {
        guard packet.count == Self.packetLength, packet[0] == ContainerEnd.syncByte else { return false }
        guard Int(packet[1] & 0x1F) << 8 | Int(packet[2]) == video else { return true }
        let (hasAdaptation, hasPayload) = (packet[3] & 0x20 != 0, packet[3] & 0x10 != 0)
        let adaptationLength = hasAdaptation ? 1 + Int(packet[4]) : 0
        let isDiscontinuous = adaptationLength > 1 && packet[5] & 0x80 != 0
        let (former, current) = (counter, packet[3] & 0x0F)
        guard hasPayload else { return true }
        counter = current
        // A packet may be sent twice (2.4.3.3).
        if current == former, !isDiscontinuous { return true }
        var isIntact = former.map { ($0 + 1) & 0x0F == current } ?? true || isDiscontinuous
        guard 4 + adaptationLength < Self.packetLength else { return false }
        let payload = UnsafeRawBufferPointer(rebasing: packet[(4 + adaptationLength)...])
        if packet[1] & 0x40 != 0 {
            // The length of a picture is rarely stated (2.4.3.7).
            guard let header = PictureHeader(payload) else { return false }
            remainder = header.length
        }
        if let left = remainder {
            remainder = left - payload.count
            if left < payload.count { isIntact = false }
        }
        return isIntact
    }

    /// The header of a picture: of a packet of the elementary stream (2.4.3.6).
    private struct PictureHeader {
        /// The number of bytes of the picture with its header; nil if it states none.
        let length: Int?

        /// - Returns: nil if it is damaged.
        init?(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count >= 9, bytes.starts(with: [0, 0, 1]),
                bytes[3] & 0xF0 == 0xE0 || bytes[3] == 0xFD,
                bytes[6] & 0xC0 == 0x80
            else { return nil }
            let times = [0, 0, 5, 10][Int(bytes[7] >> 6)]
            guard Int(bytes[8]) >= times, bytes[7] >> 6 != 1 else { return nil }
            // Without other fields stuffing fills the rest.
            if bytes[7] & 0x3F == 0 {
                guard bytes.dropFirst(9 + times).prefix(Int(bytes[8]) - times).allSatisfy({ $0 == 0xFF })
                else {
                    return nil
                }
            }
            let stated = Int(bytes[4]) << 8 | Int(bytes[5])
            length = stated == 0 ? nil : stated + 6
        }
    }
}
