import Bitstream
import CamPlatform
import Glibc

/// Decides where one segment of a recording ends and the next begins.
///
/// The encode thread and each writer keep a schedule, and arrive at the same frame independently: the encoder
/// makes it an IDR, and the writer begins a file with it. If IDRs cannot be requested, as with a camera's own
/// H.264, the writer cuts at the next IDR.
package struct SegmentSchedule: Sendable, Hashable {
    /// The length of a segment.
    package enum Length: Sendable, Hashable {
        /// Frames, at least 1: the grid counts from the recording's first frame.
        case frames(Int)
        /// Capture time, at least a nanosecond: the grid counts from the first frame.
        case time(Duration)
        /// Capture time, cut on the clock.
        case clock(ClockGrid)
        /// Bytes, at least 1: a segment of this size ends at the next IDR of any kind.
        case bytes(Int)
    }

    private let length: Length
    /// The grid's beginning, on the capture times' clock.
    private var origin: Instant?
    private var latest = Instant.start
    private var index = 0
    private var byteCount = 0

    /// If capture times step back by more than this, the clock was set: the grid moves with it.
    private static let largestStepBack = Duration.seconds(1)

    /// Creates a schedule that has seen no frame.
    package init(_ length: Length) { self.length = length }

    /// Returns whether a frame that is about to be encoded begins another segment.
    /// - Parameters:
    ///   - number: its place in the recording, from 0.
    ///   - timestamp: when it was captured, on any clock.
    package mutating func enters(number: Int, timestamp: Instant) -> Bool {
        let next: Int
        switch length {
        case .frames(let count): next = number / max(1, count)
        case .time(let duration):
            next = Int(time(at: timestamp).inNanoseconds / max(1, duration.inNanoseconds))
        case .clock(let grid): next = grid.index(at: timestamp)
        case .bytes: return false
        }
        defer { index = max(index, next) }
        return next > index
    }

    /// Returns whether an access unit that is about to be written begins another segment, by the grid or
    /// because the current segment has reached its size.
    package mutating func enters(_ unit: AccessUnit) -> Bool {
        guard case .bytes(let limit) = length else {
            return enters(number: unit.frameNumber, timestamp: unit.timestamp)
        }
        defer { byteCount += unit.count }
        return byteCount >= limit
    }

    /// Notes that a segment begins with this access unit, and restarts the count of bytes.
    package mutating func begin(with unit: AccessUnit) { byteCount = unit.count }

    /// Starts the grid at the first access unit that the encoder returned, not
    /// at an earlier frame that was lost.
    package mutating func anchor(at timestamp: Instant) { (origin, latest) = (timestamp, timestamp) }

    /// The time since the grid's beginning.
    private mutating func time(at timestamp: Instant) -> Duration {
        guard var origin else {
            anchor(at: timestamp)
            return .zero
        }
        if latest - timestamp > Self.largestStepBack {
            origin += timestamp - latest
            self.origin = origin
            latest = timestamp
        }
        latest = max(latest, timestamp)
        return max(.zero, timestamp - origin)
    }
}

// MARK: - Segments cut on the clock

/// The moments at which segments that are cut on the clock begin: at :00, :10, :20 … of every hour.
///
/// The encode thread and the writers share a grid, and ask for the same frames, the encode thread
/// first. Each moment is fixed when the previous segment begins, by the wall clock at that time. If
/// the clock is set during a segment, that segment becomes longer or shorter, and the following
/// segments are on the clock again.
package final class ClockGrid: Sendable, Hashable {
    private let length: Duration
    private let offset: @Sendable (WallTime) -> Duration
    private let wallTime: @Sendable (Instant) -> WallTime
    private let state = State()

    /// Whether a length is at least a second and divides a day, which puts the moments at the same times
    /// every day.
    package static func allows(_ length: Duration) -> Bool {
        let (length, day) = (length.inNanoseconds, Duration.seconds(86400).inNanoseconds)
        return length >= 1_000_000_000 && day.isMultiple(of: length)
    }

    /// - Parameters:
    ///   - length: the time between moments; a length that `allows` accepts.
    ///   - isUTC: whether a day begins at midnight in UTC, and not in local time.
    package convenience init(every length: Duration, isUTC: Bool) {
        self.init(
            every: length, offset: { isUTC ? .zero : Self.localOffset(at: $0) },
            wallTime: { SystemTime().wallTime(at: $0) })
    }

    /// - Parameters:
    ///   - offset: how far the wanted clock is ahead of UTC at a time.
    ///   - wallTime: the wall clock at a time of this machine's clock.
    init(
        every length: Duration, offset: @escaping @Sendable (WallTime) -> Duration,
        wallTime: @escaping @Sendable (Instant) -> WallTime
    ) {
        (self.length, self.offset, self.wallTime) = (max(.seconds(1), length), offset, wallTime)
    }

    /// The number of moments from the first frame asked for to this one.
    func index(at timestamp: Instant) -> Int {
        state.monitor.withLock {
            let next = state.next ?? moment(after: timestamp)
            if timestamp >= next { state.pass(next) }
            // After a gap, the moments within it begin nothing.
            state.next = timestamp >= next ? moment(after: timestamp) : next
            return state.index(at: timestamp)
        }
    }

    /// The next moment after a capture time.
    private func moment(after timestamp: Instant) -> Instant {
        let wall = wallTime(timestamp)
        let ahead = offset(wall)
        let past = (wall + ahead).nanoseconds % length.inNanoseconds
        let wait = past < 0 ? -past : length.inNanoseconds - past
        let unchanged = wall + .nanoseconds(wait)
        return timestamp + max(.nanoseconds(1), onGrid(unchanged, ahead, after: wall) - wall)
    }

    /// Corrects a moment for a change of the offset before it, to or from daylight saving time.
    private func onGrid(_ moment: WallTime, _ ahead: Duration, after wall: WallTime) -> WallTime {
        let there = offset(moment)
        guard there != ahead, (moment + there).nanoseconds % length.inNanoseconds != 0 else { return moment }
        let shifted = moment - (there - ahead)
        // If the change skips that time, the file begins with the change, or soon after.
        return shifted > wall && offset(shifted) == there ? shifted : moment
    }

    /// How far local time is ahead of UTC.
    private static func localOffset(at wall: WallTime) -> Duration {
        var (moment, parts) = (time_t(wall.seconds), tm())
        return localtime_r(&moment, &parts) == nil ? .zero : .seconds(parts.tm_gmtoff)
    }

    package static func == (one: ClockGrid, other: ClockGrid) -> Bool { one === other }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    private final class State: @unchecked Sendable {
        // Safe to share: accessed with the monitor's lock held.
        let monitor = Monitor()
        /// The next moment; nil before the first frame.
        var next: Instant?
        /// The latest moments.
        private var passed: [Instant] = []
        /// The number of moments removed from `passed`.
        private var forgotten = 0
        /// More moments than any writer lags: its queue holds 3600 frames, and
        /// moments are at least a second apart.
        private static let limit = 4096

        func pass(_ moment: Instant) {
            if passed.count == Self.limit {
                passed.removeFirst(Self.limit / 2)
                forgotten += Self.limit / 2
            }
            passed.append(moment)
        }

        func index(at timestamp: Instant) -> Int {
            // The frames asked for are close to the latest moment.
            let later = passed.reversed().prefix { $0 > timestamp }.count
            return forgotten + passed.count - later
        }
    }
}
