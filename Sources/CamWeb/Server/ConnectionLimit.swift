import NIOCore
import Synchronization

/// Counts a server's connections, each of which takes a descriptor and memory.
final class ConnectionLimit: Sendable {
    private let most: Int
    private let count = Atomic<Int>(0)

    init(_ most: Int) { self.most = most }

    /// Returns whether a connection may stay; one that may not is to be closed.
    func admit(_ channel: any Channel) -> Bool {
        let before = count.wrappingAdd(1, ordering: .relaxed).oldValue
        channel.closeFuture.whenComplete { [self] _ in count.wrappingSubtract(1, ordering: .relaxed) }
        return before < most
    }
}
