import Glibc
import Threading

/// The clocks of a recording in segments. Tests replace them.
public struct SegmentClock {
    /// Seconds since 1970, for names and ages.
    var wall: () -> time_t
    /// Nanoseconds on CLOCK_MONOTONIC, for pauses.
    var monotonic: () -> Int64

    /// The system's.
    public static var system: SegmentClock { SegmentClock(wall: { time(nil) }, monotonic: MonotonicTime.now) }
}
