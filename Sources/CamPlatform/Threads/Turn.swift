/// Lets one thread at a time use something that may never return: others wait their turn, but not forever.
public final class Turn: @unchecked Sendable {
    // Safe to share: the state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private var isTaken = false

    /// Creates a turn that nobody has.
    public init() {}

    /// Waits for the turn and takes it.
    /// - Returns: false if another thread still had it at the deadline.
    public func take(until deadline: Instant) -> Bool {
        monitor.withLock {
            while isTaken {
                guard Instant.now < deadline else { return false }
                monitor.wait(until: deadline)
            }
            isTaken = true
            return true
        }
    }

    /// Gives the turn to another thread.
    public func giveBack() {
        monitor.withLock {
            isTaken = false
            monitor.signal()
        }
    }
}
