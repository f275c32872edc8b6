import Glibc

/// CLOCK_MONOTONIC, the clock of V4L2's timestamps.
public enum MonotonicTime {
    /// Nanoseconds since an arbitrary start, never going back.
    public static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The time from now until `deadline` in whole milliseconds, rounded up, for poll(2). Negative where
    /// there is no deadline, which poll takes as for ever.
    static func pollTimeout(until deadline: Int64?) -> Int32 {
        guard let deadline else { return -1 }
        let milliseconds = (max(0, deadline - now()) + 999_999) / 1_000_000
        return Int32(min(milliseconds, Int64(Int32.max)))
    }
}
