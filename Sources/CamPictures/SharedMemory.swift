import CV4L2
import Glibc
import Synchronization

/// The buffers of a pool that devices share.
///
/// Safe to use from any thread.
final class SharedMemory: Sendable {
    let buffers: [SharedBuffer]
    /// Whether the processor keeps seeing buffers without an owner.
    private let isShown = Atomic<Bool>(true)

    /// - Returns: nil if the processor cannot see them.
    init?(_ memory: [DMABuffer], length: Int) {
        buffers = memory.compactMap { SharedBuffer($0, length: length) }
        guard buffers.count == memory.count, buffers.first?.isVisible == true else { return nil }
    }

    /// Takes note that an owner of a buffer is done with it.
    /// - Returns: whether that was the last one.
    func removeOwner(of index: Int) -> Bool {
        buffers[index].removeOwner(staysShown: isShown.load(ordering: .sequentiallyConsistent))
    }

    func setShown(_ isShown: Bool) {
        let wasShown = self.isShown.exchange(isShown, ordering: .sequentiallyConsistent)
        if wasShown, !isShown { for buffer in buffers { buffer.hideIfFree() } }
    }
}

// MARK: A buffer

/// A buffer that devices share, who owns it, and what the processor sees of it: its addresses are reserved, and the buffer
/// is mapped there when the processor first looks at a picture.
///
/// Safe to use from any thread. Only readers of the same picture wait for each other, because a device may keep one waiting.
final class SharedBuffer: Sendable {
    let memory: DMABuffer
    nonisolated(unsafe) let place: UnsafeMutableRawBufferPointer
    private let owners = Mutex(0)
    private let view = Mutex(View())
    /// Whether a thread that was given up may still read it.
    private let isKept = Atomic<Bool>(false)

    private struct View {
        var isMapped = false
        /// Whether the processor reads the current picture.
        var isRead = false
    }

    /// Reserves addresses.
    /// - Parameter length: the bytes that a picture takes.
    /// - Returns: nil if there are none left.
    init?(_ memory: DMABuffer, length: Int) {
        let place = mmap(nil, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let place, place != MAP_FAILED else { return nil }
        self.memory = memory
        self.place = UnsafeMutableRawBufferPointer(start: place, count: length)
    }

    deinit { munmap(place.baseAddress, place.count) }

    /// Whether the processor can see it at all.
    var isVisible: Bool {
        view.withLock { view in
            defer { hide(&view) }
            view.isMapped = memory.map(over: place)
            return view.isMapped
        }
    }

    func addOwner() { owners.withLock { $0 += 1 } }

    /// - Parameter staysShown: whether the processor keeps seeing it, as the next picture will be looked at, too.
    /// - Returns: whether that was its last owner. Who returns it without owning it changes nothing.
    func removeOwner(staysShown: Bool) -> Bool {
        owners.withLock { count in
            guard count > 0 else { return false }
            count -= 1
            guard count == 0 else { return false }
            // The lock is taken only if an abandoned thread waits for a device. The next reader would wait as well, so
            // the buffer stays out of use. `hideIfFree` holds it only together with the owners' lock.
            return view.withLockIfAvailable { view in
                if view.isRead { memory.synchronize(isEnd: true) }
                view.isRead = false
                if !staysShown { hide(&view) }
                return true
            } ?? false
        }
    }

    /// Lets the processor see the picture until the buffer has no owner any more.
    func show() {
        view.withLock { view in
            guard !view.isRead else { return }
            if !view.isMapped {
                view.isMapped = memory.map(over: place)
                // The first buffer could be mapped, so this fails only if the system has no memory for page tables. The
                // picture is zeros then, which are green.
                if !view.isMapped { reserve(PROT_READ | PROT_WRITE) }
            }
            memory.synchronize(isEnd: false)
            view.isRead = true
        }
    }

    /// Ends what the processor sees if the buffer has no owner.
    func hideIfFree() {
        owners.withLock { count in
            if count == 0 { _ = view.withLockIfAvailable { hide(&$0) } }
        }
    }

    /// Keeps it visible to the processor from now on, with or without an owner.
    func keep() { isKept.store(true, ordering: .sequentiallyConsistent) }

    private func hide(_ view: inout View) {
        guard view.isMapped, !isKept.load(ordering: .sequentiallyConsistent) else { return }
        reserve(PROT_NONE)
        view.isMapped = false
    }

    private func reserve(_ protection: Int32) {
        mmap(
            place.baseAddress, place.count, protection,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0)
    }
}

// MARK: DMA-BUF

/// Memory that devices share (a DMA-BUF of Linux's): a camera writes into it, a GPU reads it. The processor sees it only
/// while it is mapped.
///
/// Safe to use from any thread.
public final class DMABuffer: Sendable {
    /// Its descriptor, valid as long as the object.
    public let descriptor: Int32
    /// In bytes.
    public let length: Int
    /// What a GPU knows the memory by, and what keeps it; nil if another device has allocated it.
    public let owner: (any AnyObject & Sendable)?

    /// Takes over a descriptor.
    package init(adopting descriptor: Int32, length: Int, owner: (any AnyObject & Sendable)? = nil) {
        (self.descriptor, self.length, self.owner) = (descriptor, length, owner)
    }

    deinit { close(descriptor) }

    /// Maps its beginning over memory that is reserved for that.
    /// - Returns: whether that was possible.
    func map(over place: UnsafeMutableRawBufferPointer) -> Bool {
        mmap(place.baseAddress, place.count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0)
            != MAP_FAILED
    }

    /// Announces that the processor begins or ends to read, where a device's caches need to know (dma-buf.h,
    /// DMA_BUF_IOCTL_SYNC). A memory without caches of its own does not answer to that.
    func synchronize(isEnd: Bool) {
        var synchronization = dma_buf_sync()
        synchronization.flags = UInt64(isEnd ? CV4L2_SYNC_END_READING : CV4L2_SYNC_BEGIN_READING)
        _ = withUnsafeMutableBytes(of: &synchronization) {
            cv4l2_ioctl(descriptor, CV4L2_DMA_BUF_SYNC, $0.baseAddress)
        }
    }
}

// MARK: The device that reads

/// A device, such as a GPU, that reads a camera's pictures where the camera puts them.
///
/// Safe to use from any thread.
public protocol SharedMemorySource: AnyObject, Sendable {
    /// Begins what takes time before memory can be allocated, as the camera's format is negotiated meanwhile.
    func prepare()

    /// Whether it may read pictures of a format as they are.
    func reads(_ format: PictureFormat) -> Bool

    /// Allocates memory for a camera to write pictures of a format into.
    /// - Returns: nil if the device's memory has another layout.
    func makeBuffers(for format: PictureFormat, count: Int) -> [DMABuffer]?

    /// Whether it has stopped reading pictures, so that a camera need not write into its memory any more.
    var isOver: Bool { get }

    /// Reads no format any more.
    /// - Parameter reason: why, for people.
    func giveUp(_ reason: String)
}
