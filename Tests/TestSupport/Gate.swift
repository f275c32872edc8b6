import CamPlatform

/// Makes one thread wait for another: closed until it is opened, then open forever.
public final class Gate: @unchecked Sendable {
    // Safe to share: the flag is touched with the lock held.
    private let monitor = Monitor()
    private var isOpen = false

    public init() {}

    public func open() {
        monitor.withLock {
            isOpen = true
            monitor.signal()
        }
    }

    public func wait() {
        monitor.withLock {
            while !isOpen { monitor.wait() }
        }
    }
}
