import CV4L2
import Threading

/// Time, and waiting, as the sources see them. Tests put a clock of their own in place of the system's.
protocol SourceClock: AnyObject, Sendable {
    /// Nanoseconds of CLOCK_MONOTONIC.
    func now() -> Int64

    /// Nanoseconds that the machine was suspended since it started, about.
    func suspended() -> Int64

    /// Waits until one of the descriptors is ready or the time in nanoseconds is over, which below zero it
    /// never is; as ppoll(2), but −errno where it fails.
    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, nanoseconds: Int64) -> Int32
}

extension SourceClock {
    func now() -> Int64 { MonotonicTime.now() }

    func suspended() -> Int64 { MonotonicTime.suspended() }

    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, nanoseconds: Int64) -> Int32 {
        cv4l2_poll(descriptors.baseAddress, nfds_t(descriptors.count), nanoseconds)
    }

    /// The same, until `deadline`; without one forever.
    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, until deadline: Int64?) -> Int32 {
        poll(descriptors, nanoseconds: deadline.map { max(0, $0 - now()) } ?? -1)
    }
}

/// The system's own.
final class SystemClock: SourceClock {}
