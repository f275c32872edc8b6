import Glibc

/// A flag that wakes whoever polls its descriptor. Raised from any thread, and never lowered.
public final class Interruption: Sendable {
    /// Readable from the moment it is raised.
    public let descriptor: Int32
    private let writeEnd: Int32
    /// Seconds that go by before somebody gives up and raises it; for messages.
    public let patience: Int

    /// Nil where the system has no descriptors left.
    public init?(patience: Int = 0) {
        var ends: (Int32, Int32) = (-1, -1)
        let result = withUnsafeMutablePointer(to: &ends) {
            $0.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) }
        }
        guard result == 0 else { return nil }
        (descriptor, writeEnd) = ends
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(writeEnd, F_SETFD, FD_CLOEXEC)
        _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
        self.patience = patience
    }

    deinit {
        close(descriptor)
        close(writeEnd)
    }

    /// Whether it was raised.
    public var isRaised: Bool {
        var descriptors = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptors, 1, 0) > 0
    }

    /// What ends a wait.
    public enum Wake: Sendable {
        /// The descriptor is ready, or its other end is gone.
        case ready
        /// The other descriptor is.
        case otherReady
        /// The interruption was raised.
        case interrupted
        /// The time has come.
        case due
    }

    /// Waits until a descriptor is ready, this is raised, or the time has come.
    /// - Parameters:
    ///   - descriptor: below zero for none.
    ///   - events: of poll(2): `POLLIN` or `POLLOUT`.
    ///   - other: another one, which is to be readable.
    ///   - deadline: monotonic nanoseconds; nil waits for ever.
    public func wait(
        for descriptor: Int32 = -1, _ events: Int32 = POLLIN, or other: Int32 = -1,
        until deadline: Int64? = nil
    ) -> Wake {
        var descriptors = (
            pollfd(fd: descriptor, events: Int16(events), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
            pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        )
        while true {
            let rest = deadline.map { max(0, $0 - MonotonicTime.now()) }
            let milliseconds = rest.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? -1
            let count = withUnsafeMutablePointer(to: &descriptors) {
                $0.withMemoryRebound(to: pollfd.self, capacity: 3) { poll($0, 3, milliseconds) }
            }
            if count < 0 { continue }
            if descriptors.2.revents != 0 { return .interrupted }
            if descriptors.0.revents != 0 { return .ready }
            return descriptors.1.revents != 0 ? .otherReady : .due
        }
    }

    /// Safe in any thread; raising it again changes nothing.
    public func raise() {
        var one: UInt8 = 1
        _ = write(writeEnd, &one, 1)
    }
}
