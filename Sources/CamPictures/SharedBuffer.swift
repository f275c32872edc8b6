import Glibc
import Synchronization

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
