import CV4L2
import Glibc
import Synchronization

/// The memory of a stream's buffers and the mailbox through which ended `PixelBuffer`s come back.
///
/// Every stream creates its own pool. A buffer that outlives its stream posts into a pool that nobody reads
/// any more, so it can never be queued into the reopened device; its memory stays mapped until the last such
/// buffer is gone.
public final class PixelBufferPool: Sendable {
    /// VIDEO_MAX_FRAME: what V4L2 hands out at most, and the bits of the mailbox.
    public static let maximumCount = 32

    /// How a buffer's memory was obtained, and so how it is released.
    package enum Backing { case mapped, allocated }

    private let backing: Backing
    /// The memory planes of buffer i are at i × planesPerBuffer.
    private nonisolated(unsafe) let memory: [UnsafeMutableRawBufferPointer]
    private let planesPerBuffer: Int
    private let returned = Atomic<UInt32>(0)
    private let interrupted = Atomic<Bool>(false)
    /// An eventfd: readable when a buffer came back or the stream was interrupted.
    package let wakeDescriptor: Int32

    /// Takes over the memory. `planes` holds `planesPerBuffer` entries a buffer, at most `maximumCount`
    /// buffers.
    package init(
        backing: Backing, planes: [UnsafeMutableRawBufferPointer], planesPerBuffer: Int
    ) throws(PixelBufferPoolError) {
        self.backing = backing
        memory = planes
        self.planesPerBuffer = planesPerBuffer
        wakeDescriptor = cv4l2_eventfd()
        guard wakeDescriptor >= 0 else { throw .noDescriptor(errno: -wakeDescriptor) }
    }

    /// A pool of ordinary memory, for sources that are not devices.
    package static func allocated(count: Int, length: Int) throws(PixelBufferPoolError) -> PixelBufferPool {
        var planes: [UnsafeMutableRawBufferPointer] = []
        for _ in 0..<count {
            guard let plane = AlignedMemory.allocate(byteCount: length) else {
                for plane in planes { free(plane.baseAddress) }
                throw .noMemory(pictureLength: length)
            }
            planes.append(plane)
        }
        return try PixelBufferPool(backing: .allocated, planes: planes, planesPerBuffer: 1)
    }

    /// A pool of one buffer, with memory planes of these lengths.
    package static func allocated(planes lengths: [Int]) throws(PixelBufferPoolError) -> PixelBufferPool {
        var planes: [UnsafeMutableRawBufferPointer] = []
        for length in lengths {
            guard let plane = AlignedMemory.allocate(byteCount: length) else {
                for plane in planes { free(plane.baseAddress) }
                throw .noMemory(pictureLength: length)
            }
            planes.append(plane)
        }
        return try PixelBufferPool(backing: .allocated, planes: planes, planesPerBuffer: planes.count)
    }

    deinit {
        for plane in memory {
            switch backing {
            case .mapped: munmap(plane.baseAddress, plane.count)
            case .allocated: free(plane.baseAddress)
            }
        }
        close(wakeDescriptor)
    }

    /// Releases the driver's memory: a mapping keeps the device busy for the next program. Buffers that are
    /// still held get ordinary memory instead: they stay readable, but lose their picture.
    package func leaveDriver() {
        guard backing == .mapped else { return }
        for plane in memory {
            mmap(
                plane.baseAddress, plane.count, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0)
        }
    }

    package var count: Int { memory.count / planesPerBuffer }

    package func memory(ofBuffer index: Int, plane: Int) -> UnsafeMutableRawBufferPointer {
        memory[index * planesPerBuffer + plane]
    }

    /// From any thread: the buffer is free again.
    func giveBack(_ index: Int) {
        returned.bitwiseOr(1 << UInt32(index), ordering: .releasing)
        wake()
    }

    /// The capture thread takes the indices that came back, as bits, and clears the wake-up.
    package func takeReturned() -> UInt32 {
        var count: UInt64 = 0
        _ = read(wakeDescriptor, &count, 8)
        return returned.exchange(0, ordering: .acquiring)
    }

    /// From any thread: ends a wait for the next buffer.
    package func interrupt() {
        interrupted.store(true, ordering: .releasing)
        wake()
    }

    package var isInterrupted: Bool { interrupted.load(ordering: .acquiring) }

    private func wake() {
        var one: UInt64 = 1
        _ = write(wakeDescriptor, &one, 8)
    }
}
