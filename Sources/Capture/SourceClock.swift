import CV4L2

/// Time, and waiting, as the sources see them. Tests put a clock of their own in place of the system's.
protocol SourceClock: AnyObject, Sendable {
    /// Nanoseconds of CLOCK_MONOTONIC.
    func now() -> Int64

    /// Waits until one of the descriptors is ready or the time in milliseconds is over, which below zero it
    /// never is; as poll(2), but −errno where it fails.
    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, milliseconds: Int32) -> Int32
}

extension SourceClock {
    func now() -> Int64 { MonotonicTime.now() }

    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, milliseconds: Int32) -> Int32 {
        cv4l2_poll(descriptors.baseAddress, nfds_t(descriptors.count), milliseconds)
    }

    /// The same, until `deadline`; without one for ever.
    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, until deadline: Int64?) -> Int32 {
        guard let deadline else { return poll(descriptors, milliseconds: -1) }
        // Rounded up: a wait that ends early would be taken for the deadline's coming and begin again.
        let milliseconds = (max(0, deadline - now()) + 999_999) / 1_000_000
        return poll(descriptors, milliseconds: Int32(min(milliseconds, Int64(Int32.max))))
    }
}

/// The system's own.
final class SystemClock: SourceClock {}
