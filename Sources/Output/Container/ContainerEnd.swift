import Bitstream
import Glibc

/// Whether a container's file ends where its structure says it does.
///
/// libavformat reports a truncated Matroska file, but reads the other containers as far as they go.
enum ContainerEnd {
    /// The lengths of a transport stream's packets: alone (ISO/IEC 13818-1, 2.4.3.2), with a time, with a checksum.
    private static let packetLengths: [Int64] = [188, 192, 204]
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
            let isWhole = packetLengths.contains { length % $0 == 0 }
            return isWhole ? nil : "its last packet is cut off"
        case .mp4: return endsWithinBox(descriptor, length) ? "its last box is cut off" : nil
        }
    }

    /// Walks the top-level boxes (ISO/IEC 14496-12, 4.2).
    private static func endsWithinBox(_ descriptor: Int32, _ length: Int64) -> Bool {
        var offset: Int64 = 0
        for _ in 0..<boxLimit where offset < length {
            guard let size = boxSize(descriptor, at: offset) else { return true }
            // A box of size 0 extends to the end of the file; libavformat reports other invalid sizes.
            guard size >= 8 else { return false }
            let (end, overflow) = offset.addingReportingOverflow(size)
            guard !overflow, end <= length else { return true }
            offset = end
        }
        return false
    }

    /// Nil if the file ends within the box's header.
    private static func boxSize(_ descriptor: Int32, at offset: Int64) -> Int64? {
        withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { header in
            let count = pread(descriptor, header.baseAddress, 16, off_t(offset))
            guard count >= 8 else { return nil }
            let size = UInt32(bigEndian: header.load(as: UInt32.self))
            guard size == 1 else { return Int64(size) }
            guard count == 16 else { return nil }
            return Int64(clamping: UInt64(bigEndian: header.load(fromByteOffset: 8, as: UInt64.self)))
        }
    }
}
