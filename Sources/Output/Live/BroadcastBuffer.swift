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
        /// What receivers get; nil for the access unit's own bytes.
        let framed: FramedUnit?
        let arrival: Instant

        /// The number of bytes that receivers get.
        var count: Int { framed?.bytes.count ?? unit.count }

        /// Provides access to the bytes that receivers get.
        func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            if let framed { framed.bytes.withUnsafeBytes(body) } else { unit.withUnsafeBytes(body) }
        }
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
    /// - Parameter framed: what receivers get; nil for the unit's own bytes.
    func append(_ unit: AccessUnit, framed: FramedUnit? = nil, at now: Instant) {
        let entry = Entry(unit: unit, framed: framed, arrival: now)
        monitor.withLock {
            guard !isFinished else { return }
            while first < end, isFull(for: entry, at: now) { removeFirst() }
            entries[end % entries.count] = entry
            end += 1
            byteCount += entry.count
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

    /// Whether a unit is not older than units get in the buffer: without new ones, old ones stay.
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
