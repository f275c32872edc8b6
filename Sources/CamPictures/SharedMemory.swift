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
