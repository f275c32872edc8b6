import Glibc

/// The reason a wait for a descriptor ended.
public enum Wake: Sendable {
    /// The descriptor is ready, or its other end was closed.
    case ready
    /// The other descriptor is ready.
    case otherReady
    /// The interruption was raised.
    case interrupted
    /// The deadline has passed.
    case due

    /// Waits until a descriptor is ready, an interruption is raised or the deadline passes. Signals do not end it. A wait
    /// that the system refuses (poll(2): EINVAL, ENOMEM) is over at once, as if it were interrupted.
    /// - Parameters:
    ///   - descriptor: negative for none.
    ///   - events: of poll(2): `POLLIN` or `POLLOUT`.
    ///   - other: another descriptor, to become readable; if both are ready, the first is reported.
    ///   - deadline: nil to wait forever.
    public static func wait(
        for descriptor: Int32, _ events: Int32 = POLLIN, or other: Int32 = -1,
        unless interruption: Interruption?,
        until deadline: Instant? = nil
    ) -> Wake {
        var descriptors = (
            pollfd(fd: descriptor, events: Int16(events), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
            // poll ignores a negative descriptor.
            pollfd(fd: interruption?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
        )
        while true {
            let rest = deadline.map { max(.zero, $0 - .now) }
            // Rounded up: a wait that ended too early would be repeated without a pause.
            let milliseconds = rest.map { Int32(clamping: ($0 + .nanoseconds(999_999)).inMilliseconds) } ?? -1
            let count = withUnsafeMutablePointer(to: &descriptors) {
                $0.withMemoryRebound(to: pollfd.self, capacity: 3) { poll($0, 3, milliseconds) }
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return .interrupted }
            if descriptors.2.revents != 0 { return .interrupted }
            if descriptors.0.revents != 0 { return .ready }
            return descriptors.1.revents != 0 ? .otherReady : .due
        }
    }
}
