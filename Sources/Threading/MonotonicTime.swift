import Glibc

/// CLOCK_MONOTONIC, the clock of V4L2's timestamps.
public enum MonotonicTime {
    /// Nanoseconds since an arbitrary start, never going back.
    public static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
