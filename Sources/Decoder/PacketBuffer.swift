import CFFmpeg
import Glibc

/// Bytes for libavcodec: contiguous, with the padding that it reads beyond their end, in memory that it may
/// keep a reference to. Reused when nothing else refers to it.
struct PacketBuffer: ~Copyable {
    /// Nil until the first bytes are added.
    private(set) var reference: UnsafeMutablePointer<AVBufferRef>?
    /// Number of bytes, without the padding.
    private(set) var count = 0

    private static let paddingLength = Int(AV_INPUT_BUFFER_PADDING_SIZE)

    deinit {
        var reference = reference
        av_buffer_unref(&reference)
    }

    private mutating func release() { av_buffer_unref(&reference) }

    /// Number of bytes that fit before the memory grows.
    private var capacity: Int { reference.map { Int($0.pointee.size) - Self.paddingLength } ?? 0 }

    /// Adds bytes.
    /// - Returns: false if there is no memory; the buffer is unchanged then.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let room = makeRoom(for: bytes.count) else { return false }
        room.copyMemory(from: bytes)
        return true
    }

    /// Adds zeros; the result is that of `append`.
    mutating func append(zeros zeroCount: Int) -> Bool {
        guard let room = makeRoom(for: zeroCount) else { return false }
        room.initializeMemory(as: UInt8.self, repeating: 0)
        return true
    }

    /// Discards all bytes, and also the memory if a decoder still refers to it.
    mutating func removeAll() {
        count = 0
        if let held = reference, av_buffer_is_writable(held) == 0 { release() }
    }
}

extension PacketBuffer {
    /// Makes room for more bytes at the end, and pads.
    private mutating func makeRoom(for byteCount: Int) -> UnsafeMutableRawBufferPointer? {
        guard reserve(count + byteCount), let start = reference?.pointee.data else { return nil }
        let room = UnsafeMutableRawBufferPointer(start: start + count, count: byteCount)
        count += byteCount
        // In bounds: the memory is larger than its capacity by the padding.
        UnsafeMutableRawBufferPointer(start: start + count, count: Self.paddingLength)
            .initializeMemory(as: UInt8.self, repeating: 0)
        return room
    }

    private mutating func reserve(_ wanted: Int) -> Bool {
        guard wanted > capacity else { return true }
        let grown = max(wanted, capacity + capacity / 2, 64 << 10) + Self.paddingLength
        guard let allocated = av_buffer_alloc(grown) else { return false }
        if let reference { memcpy(allocated.pointee.data, reference.pointee.data, count) }
        release()
        reference = allocated
        return true
    }
}
