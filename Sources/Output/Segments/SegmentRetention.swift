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
    /// Of the segments that were ended.
    private var endedBytes: Int

    /// A clock that was set ahead makes every segment old. It does not take them all at once.
    private static let mostByAge = 2

    /// - Parameter space: the file system's, in bytes.
    init(
        _ retention: SegmentRetention, names: [SegmentNames], space: @escaping () -> (total: Int, free: Int)?
    ) throws(OutputError) {
        self.retention = retention
        self.space = space
        journal = try SegmentJournal(names: names)
        endedBytes = journal.entries.reduce(0) { $0 + ($1.size ?? 0) }
    }

    func begin(_ paths: [String]) throws(OutputError) {
        try journal.begin(paths)
        isWriting = true
    }

    /// - Parameter size: bytes of the segment; nil where no file is left of it.
    func end(size: Int?) {
        guard isWriting else { return }
        isWriting = false
        guard let size else { return journal.cancel() }
        endedBytes += size
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
        return removed
    }

    /// Makes room on a disk that is full.
    /// - Returns: the segments that are gone; empty where there was none.
    func makeRoom() -> [String] {
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
        if let most = retention.bytes, endedBytes + size > most { return true }
        return false
    }

    private var isBelowFloor: Bool {
        guard let floor = retention.free, let space = space() else { return false }
        return space.free < floor.bytes(of: space.total)
    }

    private func removeOldest() -> [String] {
        endedBytes -= journal.entries.first?.size ?? 0
        return journal.removeOldest().map { [$0] } ?? []
    }
}
