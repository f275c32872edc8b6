import Synchronization

/// A trigger that found an output's queue full or closed, so that no item in the queue stands for it.
final class LateTrigger: Sendable {
    private let isPending = Atomic<Bool>(false)

    /// Notes one.
    func note() { isPending.store(true, ordering: .sequentiallyConsistent) }

    /// Returns whether there was any, and forgets it.
    func take() -> Bool { isPending.exchange(false, ordering: .sequentiallyConsistent) }
}
