import CV4L2
import CamPlatform

/// The time, and waiting for descriptors, as the sources see them.
protocol SourceClock: TimeSource, AnyObject {
    /// Waits until a descriptor is ready or the time is over; without a time, forever. Returns what ppoll(2)
    /// does, but −errno on failure.
    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, for duration: Duration?) -> Int32
}

extension SourceClock {
    var now: Instant { .now }

    var wallTime: WallTime { .now }

    var suspendedTime: Duration { SystemTime().suspendedTime }

    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, for duration: Duration?) -> Int32 {
        cv4l2_poll(descriptors.baseAddress, nfds_t(descriptors.count), duration?.inNanoseconds ?? -1)
    }

    /// The same, until `deadline`; without one, forever.
    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, until deadline: Instant?) -> Int32 {
        poll(descriptors, for: deadline.map { max(.zero, $0 - now) })
    }
}

/// The system's own clock.
final class SystemClock: SourceClock {}
