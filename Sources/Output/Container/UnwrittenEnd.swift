import Bitstream
import Glibc

/// Zeros at the end of a container's file that nobody wrote.
///
/// A file system may commit a file's new size before the data that were appended to a block which the file had already;
/// a power cut in between leaves zeros in that block (ext4, `ext4_da_write_end`). The container's structure then says
/// that more should follow, and the last picture may seem whole with zeros in it.
///
/// A whole file that says nothing about its end, such as one that was written to a pipe, and ends in as many zeros loses
/// its last packet. Zeros within the last packet of a transport stream are taken for its content.
struct UnwrittenEnd {
    /// Where the zeros begin: the number of bytes that were written.
    let start: Int64
    /// Where the file ends.
    let end: Int64

    /// The largest block of common file systems on Linux.
    private static let blockLength: Int64 = 4096
    /// Fewer zeros than this may well end a picture or sound.
    private static let fewestZeros: Int64 = 16

    /// - Returns: nil if the file's end was written, as far as can be seen.
    init?(of descriptor: Int32, _ container: StreamContainer) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return nil }
        end = Int64(status.st_size)
        let block = (end - 1) / Self.blockLength * Self.blockLength
        let written = withUnsafeTemporaryAllocation(byteCount: Int(end - block), alignment: 1) { bytes in
            let count = pread(descriptor, bytes.baseAddress, bytes.count, off_t(block))
            return count == bytes.count ? bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0 : -1
        }
        guard written >= 0 else { return nil }
        start = block + Int64(written)
        guard start > 0, end - start >= Self.fewestZeros,
            ContainerEnd.isMissing(in: descriptor, container, length: end)
        else { return nil }
    }
}
