import CV4L2
import Glibc
import Synchronization

/// The memory for the buffers of a stream, and the mailbox through which destroyed `PixelBuffer`s return.
///
/// Every stream creates a pool. A buffer that outlives its stream returns to a pool without a reader, so it
/// is never queued into the reopened device. Its memory stays mapped until the last such buffer is gone.
public final class PixelBufferPool: Sendable {
    /// VIDEO_MAX_FRAME: the most buffers of V4L2, and the bits of the mailbox.
    public static let maximumCount = 32

    /// The most buffers that a device may read at once, in addition to those in the program.
    public static let heldByReader = 4

    /// The origin of the memory, which decides how it is released.
    package enum Backing { case mapped, allocated, shared }

    private let backing: Backing
    /// The memory planes of buffer i begin at index i × planesPerBuffer.
    private nonisolated(unsafe) let memory: [UnsafeMutableRawBufferPointer]
    private let planesPerBuffer: Int
    /// The buffers shared by devices; nil for other memory.
    private let sharing: SharedMemory?
    private let returned = Atomic<UInt32>(0)
    private let interrupted = Atomic<Bool>(false)
    /// An eventfd, readable after a buffer returned or the stream was interrupted.
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

    /// Creates a pool of ordinary memory, for sources that are not devices.
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

    /// Creates a pool of one buffer, with memory planes of these lengths.
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

    /// Creates a pool of memory shared by devices.
    /// - Parameter length: the bytes of a picture in each buffer.
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

    /// Releases the memory of the driver, because a mapping keeps the device busy for the next program. Held
    /// buffers get ordinary memory instead: they stay readable, but lose their picture.
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

    /// The memory of a buffer shared by devices; nil for other pools.
    func sharedMemory(ofBuffer index: Int) -> DMABuffer? { sharing?.buffers[index].memory }

    /// Adds an owner to a buffer.
    func handOut(_ index: Int) { sharing?.buffers[index].addOwner() }

    /// Maps a buffer for the processor.
    func show(_ index: Int) { sharing?.buffers[index].show() }

    /// Keeps a buffer mapped from now on.
    func keepShown(_ index: Int) { sharing?.buffers[index].keep() }

    /// Sets whether free buffers stay mapped because the processor will read the next pictures, too.
    func setShown(_ isShown: Bool) { sharing?.setShown(isShown) }

    /// Removes an owner of a buffer. Safe in any thread.
    func giveBack(_ index: Int) {
        if let sharing, !sharing.removeOwner(of: index) { return }
        returned.bitwiseOr(1 << UInt32(index), ordering: .releasing)
        wake()
    }

    /// Returns the indices of returned buffers as bits, and clears the wake-up. For the capture thread.
    package func takeReturned() -> UInt32 {
        var count: UInt64 = 0
        _ = read(wakeDescriptor, &count, 8)
        return returned.exchange(0, ordering: .acquiring)
    }

    /// Ends a wait for the next buffer. Safe in any thread.
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

/// Why a pool cannot be created.
public enum PixelBufferPoolError: Error, Equatable {
    /// No file descriptor was left for the mailbox.
    case noDescriptor(errno: Int32)
    /// There is not enough memory for pictures of this many bytes.
    case noMemory(pictureLength: Int)
}

// MARK: Ordinary memory

/// Large allocations that fail with an error instead of ending the process.
package enum AlignedMemory {
    /// Allocates memory that begins at a cache line; returns nil if there is not enough. Release it with
    /// `free`.
    package static func allocate(byteCount: Int) -> UnsafeMutableRawBufferPointer? {
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, 64, max(1, byteCount)) == 0, let memory else { return nil }
        return UnsafeMutableRawBufferPointer(start: memory, count: byteCount)
    }
}
