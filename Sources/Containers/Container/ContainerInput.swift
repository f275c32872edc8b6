import Bitstream
import CFFmpeg
import Glibc
import CamPlatform

/// Supplies a container's bytes to libavformat: from an open file, at a position of its own, or from a
/// stream, which can be read only once.
///
/// It bounds reading: a cancellation makes the next read fail, and so does reading too much without finding
/// a picture.
final class ContainerInput {
    private let source: Source
    private let cancellation: CancellationFlag?
    private var position: Int64 = 0
    /// The end of the furthest part that libavformat has read or skipped.
    private(set) var furthest: Int64 = 0
    private var budget = ContainerInput.longestSearch

    /// Why a read failed. libavformat cannot pass this on.
    private(set) var failure: Failure?

    enum Failure: Equatable {
        case interrupted
        case read(errno: Int32)
        case noPicture
        case shrunk
    }

    private enum Source {
        case file(Int32, FileLength, unwritten: UnwrittenEnd?)
        case stream(ContainerReader.StreamBytes)
    }

    /// The most bytes read from one picture to the next, including other streams and damage.
    static let longestSearch = 256 << 20
    static let bufferSize: Int32 = 64 << 10

    /// - Parameter descriptor: a regular file, which the caller closes.
    init(_ descriptor: Int32, _ container: StreamContainer, cancellation: CancellationFlag?) {
        source = .file(
            descriptor, FileLength(descriptor: descriptor),
            unwritten: UnwrittenEnd(of: descriptor, container))
        self.cancellation = cancellation
    }

    /// - Parameter stream: reads the next bytes of the stream.
    init(_ stream: @escaping ContainerReader.StreamBytes) {
        source = .stream(stream)
        cancellation = nil
    }

    /// Whether any position can be read.
    var isFile: Bool { descriptor != nil }

    /// The file's descriptor; nil for a stream.
    var descriptor: Int32? { if case .file(let descriptor, _, _) = source { descriptor } else { nil } }

    /// Resets the budget, because a picture was found: the next one may be as far away.
    func allowSearch() { budget = Self.longestSearch }

    /// Creates libavformat's view of it; nil if there is no memory. The input must outlive it.
    func makeContext(_ library: cformat_library) -> UnsafeMutablePointer<AVIOContext>? {
        let buffer = av_malloc(Int(Self.bufferSize))?.assumingMemoryBound(to: UInt8.self)
        let context = library.alloc_io_context(
            buffer, Self.bufferSize, 0, Unmanaged.passUnretained(self).toOpaque(),
            { input, bytes, count in
                guard let input, let bytes else { return Int32(CFORMAT_FAILED) }
                return Unmanaged<ContainerInput>.fromOpaque(input).takeUnretainedValue()
                    .read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)))
            }, nil,
            isFile
                ? { input, offset, origin in
                    guard let input else { return Int64(CFORMAT_FAILED) }
                    return Unmanaged<ContainerInput>.fromOpaque(input).takeUnretainedValue()
                        .seek(to: offset, origin)
                } : nil)
        if context == nil { av_free(buffer) }
        return context
    }

    private func read(into room: UnsafeMutableRawBufferPointer) -> Int32 {
        if cancellation?.isRaised == true { failure = .interrupted }
        if budget <= 0 { failure = failure ?? .noPicture }
        guard failure == nil else { return Int32(CFORMAT_FAILED) }
        let count =
            switch source {
            case .file(let descriptor, let length, let unwritten):
                read(descriptor, length, into: unwritten == nil ? room : writtenPart(of: room))
            case .stream(let read): read(room)
            }
        guard count >= 0 else { return Int32(CFORMAT_FAILED) }
        position += Int64(count)
        // libavformat may have sought over a part of the file.
        furthest = max(furthest, count == 0 && isFile ? min(position, size) : position)
        budget -= count
        return count == 0 ? Int32(CFFMPEG_END_OF_FILE) : Int32(clamping: count)
    }

    /// The part of the room up to the end of the written data; libavformat may have sought beyond it.
    private func writtenPart(of room: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer {
        let size = size
        guard size >= 0 else { return room }
        return UnsafeMutableRawBufferPointer(
            rebasing: room.prefix(Int(clamping: max(0, size - position))))
    }

    /// - Returns: the number of bytes, 0 at the end; negative after a failure, which `failure` records.
    private func read(
        _ descriptor: Int32, _ length: FileLength, into room: UnsafeMutableRawBufferPointer
    ) -> Int {
        while true {
            let count = pread(descriptor, room.baseAddress, room.count, off_t(position))
            if count < 0, errno == EINTR { continue }
            if count < 0 { failure = .read(errno: errno) }
            if count == 0, length.hasShrunk { failure = .shrunk }
            return failure == nil ? count : -1
        }
    }

    private func seek(to offset: Int64, _ origin: Int32) -> Int64 {
        if origin & AVSEEK_SIZE != 0 { return size }
        let base: Int64? =
            switch origin & ~AVSEEK_FORCE {
            case SEEK_SET: 0
            case SEEK_CUR: position
            case SEEK_END: size
            default: nil
            }
        guard let base else { return Int64(CFORMAT_FAILED) }
        let (target, overflow) = base.addingReportingOverflow(offset)
        guard !overflow, target >= 0 else { return Int64(CFORMAT_FAILED) }
        position = target
        return target
    }

    /// The problem at the end of the file, in words; nil if there is none.
    func problemAtEnd(_ container: StreamContainer) -> String? {
        guard case .file(let descriptor, _, let unwritten) = source else { return nil }
        if let unwritten, size == unwritten.start { return "there are zeros in place of its end" }
        return ContainerEnd.problem(of: descriptor, container)
    }

    /// The file's length without zeros that were never written, unless the file has grown since.
    private var size: Int64 {
        guard case .file(let descriptor, _, let unwritten) = source else { return Int64(CFORMAT_FAILED) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return Int64(CFORMAT_FAILED) }
        let size = Int64(status.st_size)
        return unwritten.flatMap { $0.end == size ? $0.start : nil } ?? size
    }
}
