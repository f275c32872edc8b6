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

    /// Buffers that a device may read at once, in addition to those that pass through the program.
    public static let heldByReader = 4

    /// How a buffer's memory was obtained, and so how it is released.
    package enum Backing { case mapped, allocated, shared }

    private let backing: Backing
    /// The memory planes of buffer i are at i × planesPerBuffer.
    private nonisolated(unsafe) let memory: [UnsafeMutableRawBufferPointer]
    private let planesPerBuffer: Int
    /// Nil unless devices share the memory.
    private let sharing: SharedMemory?
    private let returned = Atomic<UInt32>(0)
    private let interrupted = Atomic<Bool>(false)
    /// An eventfd: readable when a buffer came back or the stream was interrupted.
    package let wakeDescriptor: Int32

    /// Takes over the memory. `planes` holds `planesPerBuffer` entries a buffer, at most `maximumCount`
    /// buffers.
    package convenience init(
        backing: Backing, planes: [UnsafeMutableRawBufferPointer], planesPerBuffer: Int
    ) throws(PixelBufferPoolError) {
        try self.init(backing, planes, planesPerBuffer, sharing: nil)
    }

    private init(
        _ backing: Backing, _ planes: [UnsafeMutableRawBufferPointer], _ planesPerBuffer: Int,
        sharing: SharedMemory?
    ) throws(PixelBufferPoolError) {
        self.backing = backing
        self.sharing = sharing
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

    /// A pool of memory that devices share.
    /// - Parameter length: the bytes of each buffer that a picture takes.
    package static func shared(_ buffers: [DMABuffer], length: Int) throws(PixelBufferPoolError)
        -> PixelBufferPool
    {
        guard let memory = SharedMemory(buffers, length: length) else {
            throw .noMemory(pictureLength: length)
        }
        return try PixelBufferPool(.shared, memory.buffers.map(\.place), 1, sharing: memory)
    }

    deinit {
        for plane in memory {
            switch backing {
            case .mapped: munmap(plane.baseAddress, plane.count)
            case .allocated: free(plane.baseAddress)
            case .shared: break
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

    /// Whether devices share the memory.
    package var isShared: Bool { sharing != nil }

    package var count: Int { memory.count / planesPerBuffer }

    package func memory(ofBuffer index: Int, plane: Int) -> UnsafeMutableRawBufferPointer {
        memory[index * planesPerBuffer + plane]
    }

    /// The memory of a buffer that devices share; nil for other pools.
    func sharedMemory(ofBuffer index: Int) -> DMABuffer? { sharing?.buffers[index].memory }

    /// A buffer gets an owner.
    func handOut(_ index: Int) { sharing?.buffers[index].addOwner() }

    /// Lets the processor see a buffer.
    func show(_ index: Int) { sharing?.buffers[index].show() }

    /// Lets the processor see a buffer from now on.
    func keepShown(_ index: Int) { sharing?.buffers[index].keep() }

    /// Whether the processor keeps seeing buffers that are free, because it will look at the next pictures, too.
    func setShown(_ isShown: Bool) { sharing?.setShown(isShown) }

    /// From any thread: an owner of the buffer is done with it.
    func giveBack(_ index: Int) {
        if let sharing, !sharing.removeOwner(of: index) { return }
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

// MARK: Errors

/// Why a pool could not be created.
package enum PixelBufferPoolError: Error, Equatable {
    /// No file descriptor was left for the mailbox.
    case noDescriptor(errno: Int32)
    /// There is not enough memory for pictures of this many bytes.
    case noMemory(pictureLength: Int)
}

// MARK: Ordinary memory

/// Large allocations that fail with an error instead of ending the process.
package enum AlignedMemory {
    /// Allocates memory that begins at a cache line; release it with `free`. Returns nil if there is not
    /// enough.
    package static func allocate(byteCount: Int) -> UnsafeMutableRawBufferPointer? {
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, 64, max(1, byteCount)) == 0, let memory else { return nil }
        return UnsafeMutableRawBufferPointer(start: memory, count: byteCount)
    }
}
