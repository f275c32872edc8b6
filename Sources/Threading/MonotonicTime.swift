import Glibc
import Time

/// CLOCK_MONOTONIC for what still counts time in integers: `Recorder`, `camrec` and `Output/Segments`.
public enum MonotonicTime {
    /// Nanoseconds since an arbitrary start, never going back.
    public static func now() -> Int64 { Instant.now.nanoseconds }

    /// Nanoseconds since the same start during which the machine was suspended.
    public static func suspended() -> Int64 { SystemTime().suspendedTime.inNanoseconds }
}

extension Monitor {
    /// - Parameter deadline: monotonic nanoseconds; nil waits forever.
    public func wait(until deadline: Int64?) { wait(until: deadline.map(Instant.init)) }
}

extension Wake {
    /// - Parameter deadline: monotonic nanoseconds; nil waits forever.
    public static func wait(
        for descriptor: Int32, or other: Int32 = -1, unless interruption: Interruption?,
        until deadline: Int64?
    ) -> Wake {
        wait(for: descriptor, or: other, unless: interruption, until: deadline.map(Instant.init))
    }
}

extension Interruption {
    /// - Parameter patience: seconds.
    public convenience init?(patience: Int) { self.init(patience: .seconds(patience)) }
}

extension MessageLimit {
    /// - Parameter now: monotonic nanoseconds.
    public mutating func admit(at now: Int64) -> Int? { admit(at: Instant(nanoseconds: now)) }
}
