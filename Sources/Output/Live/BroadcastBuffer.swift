import Bitstream
import Threading
import Time

/// The latest access units, which every receiver reads at its own position.
///
/// A shared buffer instead of a queue per receiver: adding a unit costs the same for any number of receivers, and
/// however slow they are, memory holds only the buffer and each receiver's current unit. A unit is removed once
/// every receiver is past it, or to make room for newer ones; a receiver that still needed it has overflowed.
///
/// Units are numbered from 0 in order of arrival. Storage is preallocated.
final class BroadcastBuffer: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held, for a few instructions.
    private let monitor = Monitor()
    private var entries: [Entry?]
    private var first = 0
    private var end = 0
    private var byteCount = 0
    private var isFinished = false
    private let longestTime: Duration
    private let byteLimit: Int

    /// An access unit and its arrival time.
    struct Entry {
        let unit: AccessUnit
        let arrival: Instant
    }

    /// The numbers of the buffered units.
    struct Window: Equatable {
        var range: Range<Int>
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
    func append(_ unit: AccessUnit, at now: Instant) {
        monitor.withLock {
            guard !isFinished else { return }
            while first < end, isFull(for: unit, at: now) { removeFirst() }
            entries[end % entries.count] = Entry(unit: unit, arrival: now)
            end += 1
            byteCount += unit.count
        }
    }

    /// No more units come.
    func finish() { monitor.withLock { isFinished = true } }

    var window: Window { monitor.withLock { Window(range: first..<end, isFinished: isFinished) } }

    /// Returns the unit with a number, or nil if it was removed or has not arrived yet.
    subscript(number: Int) -> Entry? {
        monitor.withLock { (first..<end).contains(number) ? entries[number % entries.count] : nil }
    }

    /// Releases the units before `number`.
    func trim(before number: Int) {
        monitor.withLock { while first < min(number, end) { removeFirst() } }
    }

    private func isFull(for unit: AccessUnit, at now: Instant) -> Bool {
        guard end - first < entries.count, byteCount + unit.count <= byteLimit else { return true }
        guard let oldest = entries[first % entries.count] else { return false }
        return now - oldest.arrival > longestTime
    }

    private func removeFirst() {
        if let entry = entries[first % entries.count].take() { byteCount -= entry.unit.count }
        first += 1
    }
}
