import Files
import Glibc

/// How many segments stay: the oldest ones go, as soon as one of the limits is passed.
public struct SegmentRetention: Sendable, Hashable {
    /// Seconds since a segment was written last.
    public var age: Int?
    /// Bytes of all segments.
    public var bytes: Int?
    /// Segments, the one that is being written included; at least 1.
    public var count: Int?
    /// What stays free of the file system.
    public var free: Floor?

    /// A part of a file system.
    public enum Floor: Sendable, Hashable {
        case bytes(Int)
        /// Of what it holds, 0 to 1.
        case share(Double)

        /// In bytes, of a file system that holds `total`.
        func bytes(of total: Int) -> Int {
            switch self {
            case .bytes(let bytes): bytes
            case .share(let share): Int(Double(total) * share)
            }
        }
    }

    /// Everything stays.
    public init() {}

    /// Whether there is any limit.
    public var isLimited: Bool { self != SegmentRetention() }
}

/// Removes a pattern's oldest segments. Used by one thread.
final class SegmentKeeper {
    private let retention: SegmentRetention
    private let journal: SegmentJournal
    private let space: () -> (total: Int, free: Int)?
    private var isWriting = false
    /// The disk has been full: from then on there is to be room for a segment before it begins.
    private var isCramped = false
    private var lastSize = 0

    /// A clock that was set ahead makes every segment old. It does not take them all at once.
    private static let mostByAge = 2
    /// Room made at the beginning of a segment on a disk that has been full, in segments.
    private static let mostForRoom = 4

    /// - Parameter space: the file system's, in bytes.
    init(
        _ retention: SegmentRetention, names: [SegmentNames], space: @escaping () -> (total: Int, free: Int)?
    ) throws(OutputError) {
        self.retention = retention
        self.space = space
        journal = try SegmentJournal(names: names)
    }

    /// - Returns: why a later run will not know the segment for camrec's own, the first time that it will not.
    func begin(_ paths: [String]) -> OutputError? {
        isWriting = true
        return journal.begin(paths)
    }

    /// - Parameter size: bytes of the segment; nil where no file is left of it.
    func end(size: Int?) {
        guard isWriting else { return }
        isWriting = false
        guard let size else { return journal.cancel() }
        lastSize = size
        journal.end(size: size)
    }

    /// Removes what the limits say, at the beginning of a segment and while it grows.
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - size: bytes of the segment that is being written.
    /// - Returns: the segments that are gone.
    func tidy(now: Int, size: Int) -> [String] {
        var removed: [String] = []
        if let age = retention.age, !isWriting {
            for _ in 0..<Self.mostByAge {
                guard let time = journal.oldestModification, Int(time / 1_000_000_000) < now - age else {
                    break
                }
                removed += removeOldest()
            }
        }
        while hasEnded, isOverLimit(size) { removed += removeOldest() }
        // Some file systems tell of the room only later: one at a time is enough in the long run.
        if hasEnded, isBelowFloor { removed += removeOldest() }
        for _ in 0..<Self.mostForRoom where isCramped && !isWriting && hasEnded && isShortOfRoom {
            removed += removeOldest()
        }
        return removed
    }

    /// Makes room on a disk that is full.
    /// - Returns: the segments that are gone; empty where there was none.
    func makeRoom() -> [String] {
        isCramped = true
        var removed: [String] = []
        while hasEnded, removed.isEmpty { removed = removeOldest() }
        return removed
    }

    /// Whether there is a segment besides the one being written.
    private var hasEnded: Bool { journal.entries.count > (isWriting ? 1 : 0) }

    private func isOverLimit(_ size: Int) -> Bool {
        // The one that is about to begin counts, too.
        let count = journal.entries.count + (isWriting ? 0 : 1)
        if let most = retention.count, count > most { return true }
        if let most = retention.bytes, journal.bytes + size > most { return true }
        return false
    }

    /// Whether less is free than there is to be, and no segment could make room.
    var isHelpless: Bool { !hasEnded && isBelowFloor }

    private var isBelowFloor: Bool {
        guard let floor = retention.free, let space = space() else { return false }
        return space.free < floor.bytes(of: space.total)
    }

    /// Segments differ in size: there is to be room for twice the last one.
    private var isShortOfRoom: Bool { space().map { $0.free < 2 * lastSize } ?? false }

    private func removeOldest() -> [String] {
        journal.removeOldest().map { [$0] } ?? []
    }
}
