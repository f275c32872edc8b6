import Bitstream
import Glibc

/// Checks whether a container's file ends where its structure says.
///
/// libavformat reports a truncated Matroska file, but reads the other containers as far as they go.
enum ContainerEnd {
    /// The lengths of a transport stream's packets, and where in them the sync byte is: alone (ISO/IEC 13818-1,
    /// 2.4.3.2), after a time, with a checksum.
    private static let packets: [(length: Int, syncPlace: Int)] = [(188, 0), (192, 4), (204, 0)]
    static let syncByte: UInt8 = 0x47
    /// The number of packets that must have the sync byte: in a single packet the byte may occur by chance.
    private static let syncCount = 5
    /// More boxes than a week of one-second fragments has.
    private static let boxLimit = 1 << 21

    /// Damage to the structure of a file, in words.
    static func damage(at place: Int64) -> String { "its structure is damaged at byte \(place)" }

    /// The problem at the end of a file, in words; nil if there is none.
    static func problem(of descriptor: Int32, _ container: StreamContainer) -> String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        let length = Int64(status.st_size)
        switch container {
        // libavformat reports it.
        case .matroska: return nil
        case .transportStream:
            return endsWithPacket(descriptor, length) ? nil : "its last packet is cut off"
        case .mp4: return end(descriptor, length) == .withinBox ? "its last box is cut off" : nil
        }
    }

    /// Whether, by its structure, the file should be longer.
    static func isMissing(in descriptor: Int32, _ container: StreamContainer, length: Int64) -> Bool {
        switch container {
        case .matroska: MatroskaEnd.isMissing(in: descriptor, length)
        case .transportStream: !endsWithPacket(descriptor, length)
        case .mp4: end(descriptor, length) != .afterBox
        }
    }

    /// Also true if the packets' length is unknown.
    private static func endsWithPacket(_ descriptor: Int32, _ length: Int64) -> Bool {
        guard let packet = packet(of: descriptor) else { return true }
        var sync: UInt8 = 0
        return length % Int64(packet.length) == 0
            && pread(descriptor, &sync, 1, off_t(length - Int64(packet.length - packet.syncPlace))) == 1
            && sync == syncByte
    }

    /// The length of a transport stream's packets and the place of their sync byte; nil if the beginning of
    /// the file does not show them.
    static func packet(of descriptor: Int32) -> (length: Int, syncPlace: Int)? {
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

    /// Reads the header of a box; nil if the file ends within it.
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

// MARK: - Matroska

/// The elements of a Matroska file, and where the file says that it ends.
enum MatroskaEnd {
    /// EBML's header, and the segment that follows it (RFC 8794, 11.2.1; RFC 9559, 5.1).
    static let header: UInt64 = 0x1A45_DFA3
    private static let segment: UInt64 = 0x1853_8067

    /// Whether the segment does not state its size, because it was never finished, or should be longer.
    static func isMissing(in descriptor: Int32, _ length: Int64) -> Bool {
        content(of: descriptor).map { $0.end.map { $0 > length } ?? true } ?? false
    }

    /// The segment, which contains everything except the file's header; `end` is nil if the size is unknown.
    static func content(of descriptor: Int32) -> Element? {
        guard let first = element(descriptor, at: 0), first.identifier == header, let begin = first.end,
            let content = element(descriptor, at: begin), content.identifier == segment
        else { return nil }
        return content
    }

    /// An element of EBML.
    struct Element {
        let identifier: UInt64
        /// Where its content starts.
        let start: Int64
        /// Where its content ends; nil if the size is unknown.
        let end: Int64?
    }

    /// Reads the element at an offset; nil if there is none.
    static func element(_ descriptor: Int32, at offset: Int64) -> Element? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 12) { buffer in
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            guard count > 0 else { return nil }
            let bytes = buffer[..<count]
            guard let identifier = number(bytes, hasMarker: true), identifier.length <= 4,
                let size = number(bytes.dropFirst(identifier.length), hasMarker: false)
            else { return nil }
            let start = offset + Int64(identifier.length + size.length)
            // All ones: the size is unknown.
            let isOpen = size.value == UInt64(1) << UInt64(7 * size.length) - 1
            let (end, overflow) = start.addingReportingOverflow(Int64(clamping: size.value))
            return Element(
                identifier: identifier.value, start: start, end: isOpen || overflow ? nil : end)
        }
    }

    /// A number whose first set bit gives its length (RFC 8794, 4).
    static func number(
        _ bytes: Slice<UnsafeMutableBufferPointer<UInt8>>, hasMarker: Bool
    ) -> (value: UInt64, length: Int)? {
        guard let first = bytes.first, first != 0 else { return nil }
        let length = first.leadingZeroBitCount + 1
        guard bytes.count >= length else { return nil }
        let value = bytes.prefix(length).reduce(0) { $0 << 8 | UInt64($1) }
        return (hasMarker ? value : value & (UInt64(1) << UInt64(7 * length) - 1), length)
    }
}

// MARK: - Zeros after a power cut

/// Zeros at the end of a container's file that were never written.
///
/// A file system may commit a file's new size before the data appended to an existing block; a power cut in
/// between leaves zeros in that block (ext4, `ext4_da_write_end`). The container's structure then says that
/// the file should be longer, and the last picture may seem complete with zeros in it.
///
/// A false positive costs the last packet: a complete file whose structure does not state its end, such as
/// one written to a pipe, and that ends in as many zeros. Zeros within the last packet of a transport stream
/// count as its content.
struct UnwrittenEnd {
    /// The number of bytes that were written; the zeros begin here.
    let start: Int64
    /// Where the file ends.
    let end: Int64

    /// A block of a file system on Linux is usually no larger than a page of the machine that wrote the file, which has
    /// 4 kB on x86, and 4, 16 or 64 kB on arm64. A larger one is read only if the smaller one has nothing but zeros.
    private static let blockLengths: [Int64] = [4 << 10, 16 << 10, 64 << 10]
    /// Fewer zeros may be the end of a picture or of sound.
    private static let fewestZeros: Int64 = 16

    /// - Returns: nil if the end of the file seems to have been written.
    init?(of descriptor: Int32, _ container: StreamContainer) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return nil }
        end = Int64(status.st_size)
        var (block, written) = (end, 0)
        for length in Self.blockLengths where written == 0 {
            block = (end - 1) / length * length
            written = withUnsafeTemporaryAllocation(byteCount: Int(end - block), alignment: 1) { bytes in
                let count = pread(descriptor, bytes.baseAddress, bytes.count, off_t(block))
                return count == bytes.count ? bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0 : -1
            }
        }
        guard written >= 0 else { return nil }
        start = block + Int64(written)
        guard start > 0, end - start >= Self.fewestZeros,
            ContainerEnd.isMissing(in: descriptor, container, length: end)
        else { return nil }
    }
}
