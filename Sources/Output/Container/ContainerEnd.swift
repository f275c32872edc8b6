import Bitstream
import Glibc

/// Whether a container's file ends where its structure says it does.
///
/// libavformat reports a truncated Matroska file, but reads the other containers as far as they go.
enum ContainerEnd {
    /// The lengths of a transport stream's packets, and where in them the sync byte is: alone (ISO/IEC 13818-1,
    /// 2.4.3.2), after a time, with a checksum.
    private static let packets: [(length: Int, syncPlace: Int)] = [(188, 0), (192, 4), (204, 0)]
    private static let syncByte: UInt8 = 0x47
    /// Packets that must have the sync byte; in one of another length it may be there by chance.
    private static let syncCount = 5
    /// More boxes than a week of one-second fragments has.
    private static let boxLimit = 1 << 21

    /// What is wrong with the end of a file, in words; nil if nothing is.
    static func problem(of descriptor: Int32, _ container: StreamContainer) -> String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        let length = Int64(status.st_size)
        switch container {
        case .matroska: return MatroskaEnd.problem(of: descriptor, length)
        case .transportStream:
            return endsWithPacket(descriptor, length) ? nil : "its last packet is cut off"
        case .mp4: return end(descriptor, length) == .withinBox ? "its last box is cut off" : nil
        }
    }

    /// Whether more should follow the end of a file than what is there.
    static func isMissing(in descriptor: Int32, _ container: StreamContainer, length: Int64) -> Bool {
        switch container {
        case .matroska: MatroskaEnd.isMissing(in: descriptor, length)
        case .transportStream: !endsWithPacket(descriptor, length)
        case .mp4: end(descriptor, length) != .afterBox
        }
    }

    /// True where the packets' length is not known, too.
    private static func endsWithPacket(_ descriptor: Int32, _ length: Int64) -> Bool {
        guard let packet = packet(of: descriptor) else { return true }
        var sync: UInt8 = 0
        return length % Int64(packet.length) == 0
            && pread(descriptor, &sync, 1, off_t(length - Int64(packet.length - packet.syncPlace))) == 1
            && sync == syncByte
    }

    /// How long a transport stream's packets are, and where their sync byte is; nil if its beginning does not show it.
    private static func packet(of descriptor: Int32) -> (length: Int, syncPlace: Int)? {
        withUnsafeTemporaryAllocation(byteCount: 204 * syncCount, alignment: 1) { head in
            let count = max(0, pread(descriptor, head.baseAddress, head.count, 0))
            return packets.first { length, place in
                let places = stride(from: place, to: min(count, length * syncCount), by: length)
                return count > place && places.allSatisfy { head[$0] == syncByte }
            }
        }
    }

    /// Where an MP4 file ends.
    private enum MP4End {
        case withinBox
        /// After the samples of a fragment: nothing says that it is the last one, as an index would.
        case afterFragment
        case afterBox
    }

    /// Walks the top-level boxes (ISO/IEC 14496-12, 4.2).
    private static func end(_ descriptor: Int32, _ length: Int64) -> MP4End {
        var (offset, before, last): (Int64, BoxKind?, BoxKind?) = (0, nil, nil)
        for _ in 0..<boxLimit where offset < length {
            guard let box = box(descriptor, at: offset) else { return .withinBox }
            // A box of size 0 extends to the end of the file, as zeros do; libavformat reports other invalid sizes.
            guard box.size >= 8 else { break }
            let (end, overflow) = offset.addingReportingOverflow(box.size)
            guard !overflow, end <= length else { return .withinBox }
            (offset, before, last) = (end, last, BoxKind(rawValue: box.kind))
        }
        return before == .movieFragment && last == .mediaData ? .afterFragment : .afterBox
    }

    /// The boxes that make up a fragment: `moof` and `mdat` (ISO/IEC 14496-12, 8.8.4 and 8.1.1).
    private enum BoxKind: UInt32 {
        case movieFragment = 0x6D6F_6F66
        case mediaData = 0x6D64_6174
    }

    /// Nil if the file ends within the box's header, whose length is the last part.
    static func box(
        _ descriptor: Int32, at offset: Int64
    ) -> (size: Int64, kind: UInt32, headerLength: Int64)? {
        withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { header in
            let count = pread(descriptor, header.baseAddress, 16, off_t(offset))
            guard count >= 8 else { return nil }
            let size = UInt32(bigEndian: header.load(as: UInt32.self))
            let kind = UInt32(bigEndian: header.load(fromByteOffset: 4, as: UInt32.self))
            guard size == 1 else { return (Int64(size), kind, 8) }
            guard count == 16 else { return nil }
            return (
                Int64(clamping: UInt64(bigEndian: header.load(fromByteOffset: 8, as: UInt64.self))), kind, 16
            )
        }
    }
}
