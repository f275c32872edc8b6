import Glibc

/// A flag that wakes threads polling its descriptor. Any thread may raise it; it is never lowered.
public final class Interruption: Sendable {
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
    ) -> Wake {
        Wake.wait(for: descriptor, events, or: other, unless: self, until: deadline)
    }

    /// Raises the flag, from any thread; raising it again has no effect.
    public func raise() {
        var one: UInt8 = 1
        _ = write(writeEnd, &one, 1)
    }
}
