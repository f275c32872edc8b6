import Bitstream

/// When one segment of a recording ends and the next begins.
///
/// The encode thread and the writers each keep one, so that both come to the same frame by themselves: the
/// encoder makes it an IDR, and the writer begins a file with it. Whoever has to wait for an IDR, as with a
/// camera's own H.264, cuts at the next one.
public struct SegmentSchedule: Sendable, Hashable {
    /// How long a segment is.
    public enum Length: Sendable, Hashable {
        /// Frames, at least 1: the grid counts from the recording's first frame.
        case frames(Int)
        /// Nanoseconds by the frames' times of capture, at least 1: the grid counts from the first frame.
        case time(Int64)
        /// Bytes, at least 1: a segment that has so many ends with the next IDR of any kind.
        case bytes(Int)
    }

    private let length: Length
    /// The grid's beginning, on the capture times' clock.
    private var origin: Int64?
    private var latest: Int64 = 0
    private var index = 0
    private var byteCount = 0

    /// A capture time that steps back by more than this is a clock that was set: the grid moves along.
    private static let largestStepBack: Int64 = 1_000_000_000

    /// Nothing has come yet.
    public init(_ length: Length) { self.length = length }

    /// Whether a frame that is about to be encoded is in another segment than those before it.
    /// - Parameters:
    ///   - number: its place in the recording, from 0.
    ///   - timestamp: when it was captured, in nanoseconds on any clock.
    public mutating func enters(number: Int, timestamp: Int64) -> Bool {
        let next: Int
        switch length {
        case .frames(let count): next = number / max(1, count)
        case .time(let duration): next = Int(time(at: timestamp) / max(1, duration))
        case .bytes: return false
        }
        defer { index = max(index, next) }
        return next > index
    }

    /// Whether an access unit that is about to be written is in another segment than those before it, or has
    /// to be because theirs is as large as it may be.
    public mutating func enters(_ unit: AccessUnit) -> Bool {
        guard case .bytes(let limit) = length else {
            return enters(number: unit.frameNumber, timestamp: unit.timestamp)
        }
        defer { byteCount += unit.count }
        return byteCount >= limit
    }

    /// A segment begins: the bytes are counted anew, from this access unit on.
    public mutating func begin(with unit: AccessUnit) { byteCount = unit.count }

    /// The first access unit came out of the encoder: the grid counts from its time, not from that of a frame
    /// which was lost before it.
    public mutating func anchor(at timestamp: Int64) { (origin, latest) = (timestamp, timestamp) }

    /// Nanoseconds since the grid's beginning.
    private mutating func time(at timestamp: Int64) -> Int64 {
        guard let begin = origin else {
            anchor(at: timestamp)
            return 0
        }
        let step = timestamp &- latest
        if step < -Self.largestStepBack { origin = begin &+ step }
        latest = step < -Self.largestStepBack ? timestamp : max(latest, timestamp)
        return max(0, timestamp &- (origin ?? timestamp))
    }
}
