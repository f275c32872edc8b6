import CV4L2
import CamPictures
import CamPlatform

/// The free buffers of a pool of ordinary memory: the equivalent of a camera driver's queue. Used only by the
/// capture thread.
struct FreeBuffers {
    let pool: PixelBufferPool
    private let clock: any SourceClock
    private var free: UInt32

    init(pool: PixelBufferPool, clock: any SourceClock) {
        self.pool = pool
        self.clock = clock
        free = UInt32((UInt64(1) << UInt64(pool.count)) - 1)
    }

    /// Removes and returns a free buffer's index; nil if all are held.
    mutating func take() -> Int? {
        if free == 0 { collect() }
        guard free != 0 else { return nil }
        let index = free.trailingZeroBitCount
        free &= free - 1
        return index
    }

    /// Takes returned buffers out of the mailbox.
    mutating func collect() { free |= pool.takeReturned() }

    /// Waits until a buffer comes back, the stream is interrupted, or the deadline has passed.
    func wait(until deadline: Instant?) {
        var descriptor = pollfd(fd: pool.wakeDescriptor, events: Int16(POLLIN), revents: 0)
        withUnsafeMutablePointer(to: &descriptor) {
            _ = clock.poll(UnsafeMutableBufferPointer(start: $0, count: 1), until: deadline)
        }
    }
}

// MARK: Pools

extension PixelBufferPool {
    /// Creates a pool of ordinary memory, for a source that is not a device.
    package static func forSource(count: Int, length: Int) throws(CaptureError) -> PixelBufferPool {
        do throws(PixelBufferPoolError) {
            return try .allocated(count: count, length: length)
        } catch { throw CaptureError(error) }
    }
}

extension CaptureError {
    /// The pool could not be created.
    init(_ error: PixelBufferPoolError) {
        let kind: Kind =
            switch error {
            case .noDescriptor(let errno): .systemCallFailed("eventfd", errno: errno)
            case .noMemory(let length):
                .unsupported("not enough memory for pictures of \(length) bytes; use a smaller --size")
            }
        self.init(kind, device: "the buffer pool")
    }
}
