import CV4L2
import Threading

/// Time and waiting, as the sources see them. Tests replace the system's clock with their own.
protocol SourceClock: AnyObject, Sendable {
    /// Nanoseconds of CLOCK_MONOTONIC.
    func now() -> Int64

    /// Nanoseconds that the machine was suspended since it started, about.
    func suspended() -> Int64

    /// Waits until one of the descriptors is ready or the time in nanoseconds is over; below zero it waits
    /// forever. Like ppoll(2), but returns −errno if it fails.
    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, nanoseconds: Int64) -> Int32
}

extension SourceClock {
    func now() -> Int64 { MonotonicTime.now() }

    func suspended() -> Int64 { MonotonicTime.suspended() }

    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, nanoseconds: Int64) -> Int32 {
        cv4l2_poll(descriptors.baseAddress, nfds_t(descriptors.count), nanoseconds)
    }

    /// The same, until `deadline`; forever without one.
    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, until deadline: Int64?) -> Int32 {
        poll(descriptors, nanoseconds: deadline.map { max(0, $0 - now()) } ?? -1)
    }
}

/// The system's own clock.
final class SystemClock: SourceClock {}
