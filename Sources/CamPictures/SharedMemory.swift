import CV4L2
import Glibc
import Synchronization

/// The buffers of a pool shared by devices.
///
/// Safe to use from any thread.
final class SharedMemory: Sendable {
    let buffers: [SharedBuffer]
    /// Whether buffers without an owner stay mapped for the processor.
    private let isShown = Atomic<Bool>(true)

    /// - Returns: nil if the processor cannot map the buffers.
    init?(_ memory: [DMABuffer], length: Int) {
        buffers = memory.compactMap { SharedBuffer($0, length: length) }
        guard buffers.count == memory.count, buffers.first?.isVisible == true else { return nil }
    }

    /// Removes an owner of a buffer.
    /// - Returns: whether that was the last owner.
    func removeOwner(of index: Int) -> Bool {
        buffers[index].removeOwner(staysShown: isShown.load(ordering: .relaxed))
    }

    func setShown(_ isShown: Bool) {
        let wasShown = self.isShown.exchange(isShown, ordering: .relaxed)
        if wasShown, !isShown { for buffer in buffers { buffer.hideIfFree() } }
    }
}

// MARK: A buffer

/// A buffer shared by devices, with its owners and its mapping for the processor. The addresses are reserved,
/// and the buffer is mapped to them when the processor first reads a picture.
///
/// Safe to use from any thread. Only readers of the same picture wait for each other, because a device may
/// make a reader wait.
final class SharedBuffer: Sendable {
    let memory: DMABuffer
    nonisolated(unsafe) let place: UnsafeMutableRawBufferPointer
    private let owners = Mutex(0)
    private let view = Mutex(View())
    /// Whether a hung thread may still read the buffer.
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

    /// Whether the processor can map the buffer.
    var isVisible: Bool {
        view.withLock { view in
            defer { hide(&view) }
            view.isMapped = memory.map(over: place)
            return view.isMapped
        }
    }

    func addOwner() { owners.withLock { $0 += 1 } }

    /// - Parameter staysShown: whether the buffer stays mapped because the processor will read the next
    ///   picture, too. Read with the owners' lock held: `hideIfFree` either sees the change before it, or hides the
    ///   buffer after it.
    /// - Returns: whether that was the last owner. Ignores a release by a non-owner.
    func removeOwner(staysShown: @autoclosure () -> Bool) -> Bool {
        owners.withLock { count in
            guard count > 0 else { return false }
            count -= 1
            guard count == 0 else { return false }
            // The lock is taken only if an abandoned thread waits for a device. The next reader would wait as well, so
            // the buffer stays out of use. `hideIfFree` holds it only together with the owners' lock.
            return view.withLockIfAvailable { view in
                if view.isRead { memory.synchronize(isEnd: true) }
                view.isRead = false
                if !staysShown() { hide(&view) }
                return true
            } ?? false
        }
    }

    /// Maps the picture for the processor until the buffer has no owner.
    func show() {
        view.withLock { view in
            guard !view.isRead else { return }
            if !view.isMapped {
                view.isMapped = memory.map(over: place)
                // The first buffer could be mapped, so this fails only if the system lacks memory for page
                // tables. The picture is then all zeros, which are green.
                if !view.isMapped { reserve(PROT_READ | PROT_WRITE) }
            }
            memory.synchronize(isEnd: false)
            view.isRead = true
        }
    }

    /// Unmaps the buffer if it has no owner.
    func hideIfFree() {
        owners.withLock { count in
            if count == 0 { _ = view.withLockIfAvailable { hide(&$0) } }
        }
    }

    /// Keeps the buffer mapped from now on, with or without an owner. Only an owner may call this: a later `hide` follows
    /// the release of that owner, which takes the same lock.
    func keep() { isKept.store(true, ordering: .relaxed) }

    private func hide(_ view: inout View) {
        guard view.isMapped, !isKept.load(ordering: .relaxed) else { return }
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

/// Memory shared by devices (a Linux DMA-BUF): a camera writes into it, and a GPU reads it. The processor can
/// read it only while it is mapped.
///
/// Safe to use from any thread.
public final class DMABuffer: Sendable {
    /// The file descriptor, valid as long as the object.
    public let descriptor: Int32
    /// In bytes.
    public let length: Int
    /// The object by which a GPU knows the memory, and which keeps it alive; nil if another device has
    /// allocated it.
    public let owner: (any AnyObject & Sendable)?

    /// Takes ownership of a descriptor.
    package init(adopting descriptor: Int32, length: Int, owner: (any AnyObject & Sendable)? = nil) {
        (self.descriptor, self.length, self.owner) = (descriptor, length, owner)
    }

    deinit { close(descriptor) }

    /// Maps the beginning of the memory to reserved addresses.
    /// - Returns: whether mapping succeeded.
    func map(over place: UnsafeMutableRawBufferPointer) -> Bool {
        mmap(place.baseAddress, place.count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0)
            != MAP_FAILED
    }

    /// Announces that the processor begins or ends reading, for memory with caches of a device (dma-buf.h,
    /// DMA_BUF_IOCTL_SYNC). Memory without such caches may reject the call, which is ignored.
    func synchronize(isEnd: Bool) {
        var synchronization = dma_buf_sync()
        synchronization.flags = UInt64(isEnd ? CV4L2_SYNC_END_READING : CV4L2_SYNC_BEGIN_READING)
        _ = withUnsafeMutableBytes(of: &synchronization) {
            cv4l2_ioctl(descriptor, CV4L2_DMA_BUF_SYNC, $0.baseAddress)
        }
    }
}

// MARK: The device that reads

/// A device, such as a GPU, that reads pictures in the memory into which the camera writes them.
///
/// Safe to use from any thread.
public protocol SharedMemorySource: AnyObject, Sendable {
    /// Begins slow preparations for allocating memory, while the camera format is negotiated.
    func prepare()

    /// Whether the device may read pictures of a format without conversion.
    func reads(_ format: PictureFormat) -> Bool

    /// Allocates memory for a camera to write pictures of a format into.
    /// - Returns: nil if the memory of the device has another layout.
    func makeBuffers(for format: PictureFormat, count: Int) -> [DMABuffer]?

    /// Whether the device has stopped reading pictures, and a camera need not write into its memory.
    var isOver: Bool { get }

    /// Stops reading pictures of all formats.
    /// - Parameter reason: the reason, in words.
    func giveUp(_ reason: String)
}
