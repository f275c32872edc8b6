import Glibc
import Threading

/// Pauses between attempts, each twice as long as the one before, up to some seconds.
struct BackOff {
    private var milliseconds: Int32 = 0

    private static let first: Int32 = 250
    private static let longest: Int32 = 4000

    /// Whether nothing failed yet.
    var isFirst: Bool { milliseconds == 0 }

    /// Waits for the next pause to go by, or for the interruption.
    mutating func wait(_ interruption: Interruption) {
        milliseconds = isFirst ? Self.first : min(2 * milliseconds, Self.longest)
        var descriptor = pollfd(fd: interruption.descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&descriptor, 1, milliseconds)
    }
}
