import CLinux
import Glibc

/// Wakes a thread that waits in a `Poller`, with an eventfd.
public final class WakeUp: Sendable {
    /// Readable from `wake` to `sleep`.
    public let descriptor: Int32

    /// Creates an idle wake-up.
    public init() throws(NetworkError) {
        let result = network_eventfd()
        guard result >= 0 else { throw NetworkError(.noResources(errno: -result), address: "eventfd") }
        descriptor = result
    }

    deinit { close(descriptor) }

    /// Wakes the thread. Safe in any thread; never blocks.
    public func wake() { network_wake(descriptor) }

    /// Clears the wake-up, because the thread is awake.
    public func sleep() { network_sleep(descriptor) }
}
