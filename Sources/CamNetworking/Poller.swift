import CLinux
import CamPlatform
import Glibc

/// Waits for many descriptors at once, with epoll. Used by one thread.
///
/// Descriptors are watched edge-triggered: each is reported once when it becomes readable or writable, and
/// again only after it was found empty or full. Waiting allocates nothing.
package struct Poller: ~Copyable {
    private let descriptor: Int32
    private let events: UnsafeMutableBufferPointer<epoll_event>
    /// Whether the system refuses to watch another descriptor. Only tests set it.
    private let refuses: (@Sendable () -> Bool)?

    /// What happened to a descriptor.
    package struct Readiness: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Data can be read, or a connection accepted.
        package static let readable = Readiness(rawValue: UInt32(NETWORK_EPOLL_IN))
        /// Data can be written.
        package static let writable = Readiness(rawValue: UInt32(NETWORK_EPOLL_OUT))
        /// The peer has stopped sending, but may still receive. Always watched for.
        package static let ended = Readiness(rawValue: UInt32(NETWORK_EPOLL_END))
        /// The connection is over. Always watched for.
        package static let hungUp = Readiness(rawValue: UInt32(NETWORK_EPOLL_HANG_UP))
    }

    /// Creates a poller that watches nothing.
    package init() throws(NetworkError) { try self.init(refuses: nil) }

    package init(refuses: (@Sendable () -> Bool)?) throws(NetworkError) {
        let result = network_epoll()
        guard result >= 0 else { throw NetworkError(.noResources(errno: -result), address: "epoll") }
        // Swift 6.2 aborts on a throw between the assignments.
        self.refuses = refuses
        descriptor = result
        events = .allocate(capacity: 64)
    }

    deinit {
        events.deallocate()
        close(descriptor)
    }

    /// Watches a descriptor, or changes the events to watch for.
    /// - Parameter token: identifies the descriptor in `wait`.
    /// - Returns: false if the system lacks memory.
    package func watch(_ watched: Int32, for readiness: Readiness, token: UInt64) -> Bool {
        if let refuses, refuses() { return false }
        let wanted = readiness.rawValue | Readiness([.ended, .hungUp]).rawValue | NETWORK_EPOLL_EDGE
        return network_epoll_set(descriptor, watched, wanted, token) == 0
    }

    /// Stops watching a descriptor; call it before the descriptor is closed.
    package func forget(_ watched: Int32) { _ = network_epoll_set(descriptor, watched, 0, 0) }

    /// Waits for events until the deadline, and reports them. May also return early without events.
    package func wait(until deadline: Instant?, _ body: (_ token: UInt64, Readiness) -> Void) {
        let timeout = deadline.map { max(0, ($0 - .now).inNanoseconds) } ?? -1
        let count = network_epoll_wait(descriptor, events.baseAddress, Int32(events.count), timeout)
        for index in 0..<max(0, Int(count)) {
            body(network_epoll_token(&events[index]), Readiness(rawValue: events[index].events))
        }
    }
}

// MARK: Waking a thread

/// Wakes a thread that waits in a `Poller`, with an eventfd.
package final class EventFD: Sendable {
    /// Readable from `wake` to `sleep`.
    package let descriptor: Int32

    /// Creates an idle wake-up.
    package init() throws(NetworkError) {
        let result = network_eventfd()
        guard result >= 0 else { throw NetworkError(.noResources(errno: -result), address: "eventfd") }
        descriptor = result
    }

    deinit { close(descriptor) }

    /// Wakes the thread. Safe in any thread; never blocks.
    package func wake() { network_wake(descriptor) }

    /// Clears the wake-up, because the thread is awake.
    package func sleep() { network_sleep(descriptor) }
}
