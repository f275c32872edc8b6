import CV4L2
import Pictures
import Time

/// The buffers of a pool of ordinary memory that nobody holds: what the driver's queue is to a camera.
/// Used by the capture thread only.
struct FreeBuffers {
    let pool: PixelBufferPool
    private let clock: any SourceClock
    private var free: UInt32

    init(pool: PixelBufferPool, clock: any SourceClock) {
        self.pool = pool
        self.clock = clock
        free = UInt32((UInt64(1) << UInt64(pool.count)) - 1)
    }

    /// A free buffer's index, which leaves the set; nil where all are held.
    mutating func take() -> Int? {
        if free == 0 { collect() }
        guard free != 0 else { return nil }
        let index = free.trailingZeroBitCount
        free &= free - 1
        return index
    }

    /// Takes what came back out of the mailbox.
    mutating func collect() { free |= pool.takeReturned() }

    /// Waits until a buffer comes back, the stream is interrupted, or the deadline has passed.
    func wait(until deadline: Instant?) {
        var descriptor = pollfd(fd: pool.wakeDescriptor, events: Int16(POLLIN), revents: 0)
        withUnsafeMutablePointer(to: &descriptor) {
            _ = clock.poll(UnsafeMutableBufferPointer(start: $0, count: 1), until: deadline)
        }
    }
}
