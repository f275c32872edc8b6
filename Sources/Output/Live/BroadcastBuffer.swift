import Bitstream
import Threading
import Time

/// The latest access units, which all receivers read, each at its own position.
///
/// There is one buffer instead of a queue for each receiver: handing a unit over costs the same however many
/// there are, and however slow they are, memory holds one buffer and the unit that each is in the middle of. A
/// unit goes when every receiver is past it, or for newer ones when the buffer is full. A receiver that still
/// wanted it has then overflowed.
///
/// Units are numbered from 0 as they come. Storage is made beforehand.
final class BroadcastBuffer: @unchecked Sendable {
    // Safe to share: everything mutable is touched with the monitor's lock held, for a few instructions.
    private let monitor = Monitor()
    private var entries: [Entry?]
    private var first = 0
    private var end = 0
    private var byteCount = 0
    private var isFinished = false
    private let longestTime: Duration
    private let byteLimit: Int

    /// An access unit and when it was handed over.
    struct Entry {
        let unit: AccessUnit
        let arrival: Instant
    }

    /// The numbers of the units that are there.
    struct Window: Equatable {
        var range: Range<Int>
        /// No more units come.
        var isFinished: Bool
    }

    /// More than a minute at 60 frames a second.
    private static let capacity = 4096
    /// However long the buffer.
    private static let mostBytes = 64 << 20

    init(limit: LiveOptions.Buffer, capacity: Int = BroadcastBuffer.capacity) {
        entries = Array(repeating: nil, count: capacity)
        switch limit {
        case .seconds(let seconds):
            longestTime = .seconds(min(max(seconds, 0), 3600))
            byteLimit = Self.mostBytes
        case .bytes(let bytes):
            longestTime = .nanoseconds(Int64.max)
            byteLimit = min(bytes, Self.mostBytes)
        }
    }

    /// Adds a unit, in place of the oldest ones where there is no room. Never waits.
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

    /// The unit of a number; nil if it is gone, or not there yet.
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
