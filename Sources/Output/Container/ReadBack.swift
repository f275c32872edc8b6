import CFFmpeg
import CFormat
import Glibc

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

/// What was written and can be read.
protocol ReadableOutput: AnyObject {
    /// Reads what was written.
    /// - Returns: the number of bytes, 0 at the end, or a negative value with errno set.
    func read(into room: UnsafeMutableRawBufferPointer, at position: Int) -> Int
}
