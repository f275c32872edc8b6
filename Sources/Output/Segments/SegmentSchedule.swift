import Bitstream
import CamPlatform

/// When one segment of a recording ends and the next begins.
///
/// The encode thread and the writers each keep one, so that they arrive at the same frame independently: the
/// encoder makes it an IDR, and the writer begins a file with it. If IDRs cannot be requested, as with a
/// camera's own H.264, the writer cuts at the next one.
public struct SegmentSchedule: Sendable, Hashable {
    /// How long a segment is.
    public enum Length: Sendable, Hashable {
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
    public init(_ length: Length) { self.length = length }

    /// Returns whether a frame that is about to be encoded belongs to another segment than those before it.
    /// - Parameters:
    ///   - number: its place in the recording, from 0.
    ///   - timestamp: when it was captured, on any clock.
    public mutating func enters(number: Int, timestamp: Instant) -> Bool {
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

    /// Returns whether an access unit that is about to be written belongs to another segment than those before it, by
    /// the grid or because theirs has its size.
    public mutating func enters(_ unit: AccessUnit) -> Bool {
        guard case .bytes(let limit) = length else {
            return enters(number: unit.frameNumber, timestamp: unit.timestamp)
        }
        defer { byteCount += unit.count }
        return byteCount >= limit
    }

    /// Notes that a segment begins with this access unit, and restarts the count of bytes.
    public mutating func begin(with unit: AccessUnit) { byteCount = unit.count }

    /// Starts the grid at the first access unit that the encoder returned, and not at a frame that was lost before
    /// it.
    public mutating func anchor(at timestamp: Instant) { (origin, latest) = (timestamp, timestamp) }

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
