import Glibc

/// CLOCK_MONOTONIC, the clock of V4L2's timestamps.
public enum MonotonicTime {
    /// Nanoseconds since an arbitrary start, never going back.
    public static func now() -> Int64 { read(CLOCK_MONOTONIC) }

    /// Nanoseconds since the same start during which the machine was suspended: this clock stands still then,
    /// and CLOCK_BOOTTIME continues.
    public static func suspended() -> Int64 { read(CLOCK_BOOTTIME) - now() }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
