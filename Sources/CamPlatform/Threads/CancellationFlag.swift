import Glibc

/// A flag that wakes threads polling its descriptor. Any thread may raise it; it is never lowered.
public final class CancellationFlag: Sendable {
    /// Readable once the flag is raised.
    public let descriptor: Int32
    private let writeEnd: Int32
    /// How long the owner waits before raising it; for messages.
    public let patience: Duration

    /// Creates a flag, or returns nil if the system has no descriptors left.
    public init?(patience: Duration = .zero) {
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

    /// Waits until a descriptor is ready, the flag is raised, or the deadline has passed.
    /// - Parameters:
    ///   - descriptor: negative for none.
    ///   - events: of poll(2): `POLLIN` or `POLLOUT`.
    ///   - other: another descriptor, to become readable.
    ///   - deadline: nil to wait forever.
    public func wait(
        for descriptor: Int32 = -1, _ events: Int32 = POLLIN, or other: Int32 = -1,
        until deadline: Instant? = nil
    ) -> WaitResult {
        WaitResult.wait(for: descriptor, events, or: other, unless: self, until: deadline)
    }

    /// Raises the flag, from any thread; raising it again has no effect.
    public func raise() {
        var one: UInt8 = 1
        _ = write(writeEnd, &one, 1)
    }
}

// MARK: - Waiting

/// The reason a wait for a descriptor ended.
public enum WaitResult: Sendable {
    /// The descriptor is ready, or its other end was closed.
    case ready
    /// The other descriptor is ready.
    case otherReady
    /// The cancellation was raised.
    case interrupted
    /// The deadline has passed.
    case due

    /// Waits until a descriptor is ready, a cancellation is raised or the deadline passes.
    /// Signals do not end the wait. If the system refuses to wait (poll(2): EINVAL, ENOMEM),
    /// it returns `interrupted` at once.
    /// - Parameters:
    ///   - descriptor: negative for none.
    ///   - events: of poll(2): `POLLIN` or `POLLOUT`.
    ///   - other: another descriptor, to become readable; if both are ready, the first is reported.
    ///   - deadline: nil to wait forever.
    public static func wait(
        for descriptor: Int32, _ events: Int32 = POLLIN, or other: Int32 = -1,
        unless cancellation: CancellationFlag?,
        until deadline: Instant? = nil
    ) -> WaitResult {
        var descriptors = (
            pollfd(fd: descriptor, events: Int16(events), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
            // poll ignores a negative descriptor.
            pollfd(fd: cancellation?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
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
