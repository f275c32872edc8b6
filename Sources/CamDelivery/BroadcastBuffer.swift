import Bitstream
import CamPlatform

/// The latest access units, which every receiver reads at its own position.
///
/// A shared buffer instead of a queue per receiver: adding a unit costs the same for any number of receivers,
/// and however slow they are, memory holds only the buffer and each receiver's current unit. A unit is
/// removed once every receiver has passed it, or to make room for newer units; a receiver that still needed
/// it has overflowed.
///
/// Units are numbered from 0 in order of arrival. Storage is preallocated.
final class BroadcastBuffer: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held, for a few instructions.
    private let monitor = Monitor()
    private var entries: [Entry?]
    private var first = 0
    private var end = 0
    private var byteCount = 0
    private var pictureCount = 0
    private var isFinished = false
    private let longestTime: Duration
    private let byteLimit: Int

    /// An access unit or a packet of sound, and its arrival time.
    struct Entry {
        /// Nil for sound, which is framed.
        let unit: AccessUnit?
        /// The bytes sent to receivers; nil to send the bytes of the access unit.
        let framed: FramedUnit?
        let arrival: Instant
        /// How many pictures came before it.
        let picturesBefore: Int

        /// Whether it is a picture.
        var isPicture: Bool { unit != nil }

        /// Whether decoding can begin here.
        var isIDR: Bool { unit?.isIDR == true }

        /// The number of bytes sent to a receiver.
        var count: Int { framed?.bytes.count ?? unit?.count ?? 0 }

        /// Provides access to the bytes sent to receivers.
        func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            if let framed { return framed.bytes.withUnsafeBytes(body) }
            return unit?.withUnsafeBytes(body) ?? body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }

    /// The numbers of the buffered units.
    struct Window: Equatable {
        var range: Range<Int>
        /// How many pictures came before its end.
        var pictureCount = 0
        /// No more units come.
        var isFinished: Bool
    }

    /// More than a minute at 60 frames per second.
    private static let capacity = 4096
    /// Applies whatever the buffer's duration.
    private static let mostBytes = 64 << 20

    init(limit: LiveOptions.Buffer, capacity: Int = BroadcastBuffer.capacity) {
        entries = Array(repeating: nil, count: capacity)
        switch limit {
        case .time(let time):
            longestTime = min(max(time, .zero), .seconds(3600))
            byteLimit = Self.mostBytes
        case .bytes(let bytes):
            longestTime = .nanoseconds(Int64.max)
            byteLimit = min(bytes, Self.mostBytes)
        }
    }

    /// Adds a unit, removing the oldest ones if there is no room. Never blocks.
    /// - Parameters:
    ///   - unit: nil for sound.
    ///   - framed: the bytes sent to receivers; nil to send the bytes of the unit.
    func append(_ unit: AccessUnit?, framed: FramedUnit? = nil, at now: Instant) {
        monitor.withLock {
            guard !isFinished else { return }
            let entry = Entry(unit: unit, framed: framed, arrival: now, picturesBefore: pictureCount)
            while first < end, isFull(for: entry, at: now) { removeFirst() }
            entries[end % entries.count] = entry
            end += 1
            byteCount += entry.count
            pictureCount += entry.isPicture ? 1 : 0
        }
    }

    /// No more units come.
    func finish() { monitor.withLock { isFinished = true } }

    var window: Window {
        monitor.withLock { Window(range: first..<end, pictureCount: pictureCount, isFinished: isFinished) }
    }

    /// How many pictures came before a unit that is in the buffer, or comes next.
    func pictureCount(before number: Int) -> Int {
        monitor.withLock {
            (first..<end).contains(number)
                ? entries[number % entries.count]?.picturesBefore ?? pictureCount : pictureCount
        }
    }

    /// Returns the unit with a number, or nil if it was removed or has not arrived yet.
    subscript(number: Int) -> Entry? {
        monitor.withLock { (first..<end).contains(number) ? entries[number % entries.count] : nil }
    }

    /// Releases the units before `number`.
    func trim(before number: Int) {
        monitor.withLock { while first < min(number, end) { removeFirst() } }
    }

    /// Whether a unit is recent enough for the buffer's time limit. Without new
    /// units, older ones stay in the buffer.
    func isRecent(_ entry: Entry, at now: Instant) -> Bool { now - entry.arrival <= longestTime }

    private func isFull(for entry: Entry, at now: Instant) -> Bool {
        guard end - first < entries.count, byteCount + entry.count <= byteLimit else { return true }
        guard let oldest = entries[first % entries.count] else { return false }
        return now - oldest.arrival > longestTime
    }

    private func removeFirst() {
        if let entry = entries[first % entries.count].take() { byteCount -= entry.count }
        first += 1
    }
}
