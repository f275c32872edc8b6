import CSystem
import Glibc

/// Wakes a thread that waits in a `Poller`: an eventfd.
public final class WakeUp: Sendable {
    /// Readable from `wake` to `sleep`.
    public let descriptor: Int32

    /// Nobody woke anyone yet.
    public init() throws(NetworkError) {
        let result = network_eventfd()
        guard result >= 0 else { throw NetworkError(.noResources(errno: -result), address: "eventfd") }
        descriptor = result
    }

    deinit { close(descriptor) }

    /// Wakes. Safe in any thread; never waits.
    public func wake() { network_wake(descriptor) }

    /// The thread is awake: only what wakes it from now on counts.
    public func sleep() { network_sleep(descriptor) }
}
