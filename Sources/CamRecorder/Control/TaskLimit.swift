import Synchronization

/// Bounds how many tasks of a kind there are at a time.
final class TaskLimit: Sendable {
    private let most: Int
    private let count = Atomic<Int>(0)

    init(_ most: Int) { self.most = most }

    /// Permits one task, as long as it exists.
    final class Permit: Sendable {
        private let limit: TaskLimit

        fileprivate init(_ limit: TaskLimit) { self.limit = limit }

        deinit { limit.count.wrappingSubtract(1, ordering: .releasing) }
    }

    /// - Returns: nil if there are as many as there may be.
    func permit() -> Permit? {
        guard count.wrappingAdd(1, ordering: .acquiring).newValue <= most else {
            count.wrappingSubtract(1, ordering: .relaxed)
            return nil
        }
        return Permit(self)
    }
}
