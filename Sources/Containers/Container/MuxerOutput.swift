import CFFmpeg
import Glibc

/// The destination of a container's bytes. Used by one thread.
package protocol MuxerOutput: AnyObject {
    /// The name in messages.
    var name: String { get }
    /// Bytes so far.
    var count: Int { get }
    /// The position of the next write.
    var position: Int { get }
    /// The number of bytes that remain even if a later write fails.
    var keptCount: Int { get }
    /// Whether earlier bytes can be replaced.
    var isSeekable: Bool { get }
    /// Whether it appears only once it is complete.
    var isStaged: Bool { get }

    func write(_ bytes: UnsafeRawBufferPointer) throws(OutputError)

    func seek(to position: Int) throws(OutputError)

    /// Creates a view for reading the written bytes, to be freed by
    /// `ReadBack.free`; nil if they cannot be read.
    func makeReadBack(_ library: cformat_library) -> UnsafeMutablePointer<AVIOContext>?
}

extension OutputFile: MuxerOutput, ReadableOutput {
    package func makeReadBack(_ library: cformat_library) -> UnsafeMutablePointer<AVIOContext>? {
        ReadBack.makeContext(self, library)
    }
}

// MARK: - Memory

/// Collects the muxer's output in memory until it is taken.
package final class MuxerMemory: MuxerOutput {
    package let name: String
    package var bytes: [UInt8] = []
    package private(set) var count = 0

    package init(name: String) { self.name = name }

    package var position: Int { count }
    package var keptCount: Int { count }
    package var isSeekable: Bool { false }
    package var isStaged: Bool { false }

    package func write(_ bytes: UnsafeRawBufferPointer) {
        self.bytes += bytes
        count += bytes.count
    }

    package func seek(to position: Int) throws(OutputError) {
        throw OutputError(.containerFailed(detail: "it cannot be changed later"), output: name)
    }

    package func makeReadBack(_ library: cformat_library) -> UnsafeMutablePointer<AVIOContext>? { nil }
}

// MARK: - Reading back

/// Lets libavformat read a file that is being written: it moves an MP4's content to put the index before it.
final class ReadBack {
    private let file: any ReadableOutput
    private var position = 0

    init(_ file: any ReadableOutput) { self.file = file }

    /// Creates libavformat's view of the file, valid until `free`; nil if there is no memory.
    static func makeContext(
        _ file: any ReadableOutput, _ library: cformat_library
    ) -> UnsafeMutablePointer<AVIOContext>? {
        let buffer = av_malloc(Int(ContainerInput.bufferSize))?.assumingMemoryBound(to: UInt8.self)
        let reader = Unmanaged.passRetained(ReadBack(file))
        let context = library.alloc_io_context(
            buffer, ContainerInput.bufferSize, 0, reader.toOpaque(),
            { reader, bytes, count in
                guard let reader, let bytes else { return Int32(CFORMAT_FAILED) }
                return Unmanaged<ReadBack>.fromOpaque(reader).takeUnretainedValue()
                    .read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)))
            }, nil,
            { reader, offset, origin in
                guard let reader, origin == SEEK_SET, offset >= 0 else { return Int64(CFORMAT_FAILED) }
                Unmanaged<ReadBack>.fromOpaque(reader).takeUnretainedValue().position = Int(offset)
                return offset
            })
        if context == nil {
            av_free(buffer)
            reader.release()
        }
        return context
    }

    /// Frees a view.
    static func free(_ context: UnsafeMutablePointer<AVIOContext>, _ library: cformat_library) {
        if let reader = context.pointee.opaque { Unmanaged<ReadBack>.fromOpaque(reader).release() }
        av_free(context.pointee.buffer)
        var context: UnsafeMutablePointer<AVIOContext>? = context
        library.free_io_context(&context)
    }

    private func read(into room: UnsafeMutableRawBufferPointer) -> Int32 {
        let count = file.read(into: room, at: position)
        guard count >= 0 else { return Int32(CFORMAT_FAILED) }
        position += count
        return count == 0 ? Int32(CFFMPEG_END_OF_FILE) : Int32(count)
    }
}

/// An output whose written bytes can be read.
protocol ReadableOutput: AnyObject {
    /// Reads written bytes.
    /// - Returns: the number of bytes, 0 at the end, or a negative value with errno set.
    func read(into room: UnsafeMutableRawBufferPointer, at position: Int) -> Int
}
