import CSQLite
import CamPlatform
import Glibc

/// The index of a camera's recordings: where each file is, which file it is, and when it was recorded. It only saves time:
/// everything in it is read from the files again if it is lost.
final class RecordingIndex: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private let place: RecordingsPlace
    /// Nil for an index in memory.
    private var path: String?
    private var database: Database?
    private var failure: Database.Failure?
    private var wasRebuilt = false
    /// The device of the folder. Its files' device is 0 in the table: the number can change with each start of the system.
    private var device: dev_t = 0

    /// The state of a file in the index.
    enum State: Int64 {
        case waiting, examined, growing, unusable, unreadable
        /// Examined, or not a recording yet, but written to so recently that it may change without notice.
        case fresh
    }

    /// A file in the index.
    struct Entry {
        let id: UInt64
        let file: RecordingFile
        let state: State
        /// From the first to the last picture; nil if the file was not examined.
        let time: Range<WallTime>?

        fileprivate var start: Int64 { time?.lowerBound.nanoseconds ?? .min }
    }

    /// Successive recordings as one.
    struct Run: Hashable, Sendable {
        var time: Range<WallTime>
        var bytes: Int
        var count: Int

        /// This run and a later one as one; nil if the gap between them is longer than `gap`.
        fileprivate func joined(_ next: Run, over gap: Duration) -> Run? {
            guard next.time.lowerBound - time.upperBound <= gap else { return nil }
            return Run(
                time: time.lowerBound..<max(time.upperBound, next.time.upperBound),
                bytes: bytes.addingSaturated(next.bytes), count: count + next.count)
        }
    }

    /// Nanoseconds that a short recording lasts at most, and any recording: a file that claims more is not listed.
    private static let spans: (short: Int64, long: Int64) = (
        3600 * 1_000_000_000, RecordingProbe.longest.inNanoseconds
    )
    /// Recordings before 2000 have a wrong date, as have those of the next days.
    private static let earliest = WallTime(seconds: 946_684_800)
    private static let future = Duration.seconds(86400)
    private static let mostProblems = 20

    /// Nothing is read or written before `open`.
    /// - Parameter folder: the folder for the index's file; nil keeps the index in memory.
    init(_ place: RecordingsPlace, in folder: String?) {
        self.place = place
        path = folder.map { "\($0)/recordings-\(Self.name(of: place)).index" }
    }

    /// The text that a place's index has in its name, and nothing else's.
    private static func name(of place: RecordingsPlace) -> String {
        var hash = StableHash()
        for byte in "\(place.folder)\0\(place.pattern ?? "")".utf8 { hash.mix(UInt64(byte)) }
        return hash.text
    }

    /// Whether the index failed: everything must be entered again after `recover`.
    var isBroken: Bool { monitor.withLock { failure != nil } }

    /// Whether it is kept in a file.
    var isKept: Bool { monitor.withLock { path != nil } }

    /// Begins an empty index, in a new file if the old one is damaged, or else in memory.
    func recover() {
        monitor.withLock {
            let isWorthAnother = failure?.isDamage ?? false && !wasRebuilt
            (database, failure) = (nil, nil)
            if let path, isWorthAnother { RecordingIndexFile.remove(path) } else { path = nil }
            wasRebuilt = true
            openDatabase()
        }
    }

    // MARK: Opening

    /// Opens the index of the place, or creates it.
    /// - Parameter waits: whether a file that is in use is left for another try; without it the index is kept in memory.
    /// - Returns: false if the file is in use.
    @discardableResult func open(waits: Bool = false) -> Bool {
        monitor.withLock { openDatabase(waits: waits) }
    }

    @discardableResult private func openDatabase(waits: Bool = false) -> Bool {
        if let path {
            do throws(Database.Failure) {
                database = try RecordingIndexFile.open(path, place)
                return true
            } catch {
                if waits, error.isInUse { return false }
                // Another camweb may be using it, or the folder cannot be written.
                if error.isDamage {
                    RecordingIndexFile.remove(path)
                    database = try? RecordingIndexFile.open(path, place)
                }
            }
        }
        guard database == nil else { return true }
        path = nil
        do throws(Database.Failure) { database = try RecordingIndexFile.open(nil, place) } catch {
            failure = error
        }
        return true
    }

    // MARK: Files

    /// Calls the database, unless it failed before.
    private func use<Result>(
        _ fallback: Result, _ body: (Database) throws(Database.Failure) -> Result
    ) -> Result {
        monitor.withLock {
            guard failure == nil, let database else { return fallback }
            do throws(Database.Failure) { return try body(database) } catch {
                failure = error
                return fallback
            }
        }
    }

    /// Sets the device on which the folder is.
    func setDevice(_ device: dev_t) { monitor.withLock { self.device = device } }

    /// Writes many changes at once: between `begin` and `commit`.
    func begin() { use(()) { (database) throws(Database.Failure) in try database.execute("BEGIN") } }

    func commit() { use(()) { (database) throws(Database.Failure) in try database.execute("COMMIT") } }

    /// Enters a file. One that has changed waits for its examination.
    /// - Returns: the number of the file; nil if the index failed.
    func enter(_ file: RecordingFile) -> UInt64? {
        use(nil) { (database) throws(Database.Failure) in
            let path = Database.Value.text(file.name)
            var known: (id: Int64, isSame: Bool, isCurrent: Bool)?
            let (own, inode) = (
                Int64(bitPattern: ownDevice(file)), Int64(bitPattern: UInt64(file.identity.inode))
            )
            try database.run("SELECT id, device, inode, size, modification FROM file WHERE path = ?", [path])
            {
                known = (
                    $0.number(0), $0.number(1) == own && $0.number(2) == inode,
                    $0.number(3) == file.size && $0.number(4) == file.modification.nanoseconds
                )
                return false
            }
            if let known, known.isSame {
                if !known.isCurrent {
                    try database.run(
                        "UPDATE file SET size = ?, modification = ?, state = 0 WHERE id = ?",
                        [
                            Database.Value(file.size), Database.Value(file.modification.nanoseconds),
                            .number(known.id),
                        ])
                }
                return UInt64(known.id)
            }
            if let known { try database.run("DELETE FROM file WHERE id = ?", [.number(known.id)]) }
            try database.run(
                "INSERT INTO file (path, device, inode, size, modification) VALUES (?, ?, ?, ?, ?)",
                [
                    path, .number(own), .number(inode), Database.Value(file.size),
                    Database.Value(file.modification.nanoseconds),
                ])
            return UInt64(database.lastRow)
        }
    }

    private func ownDevice(_ file: RecordingFile) -> UInt64 {
        file.identity.device == device ? 0 : UInt64(file.identity.device)
    }

    /// Removes a file, or what is below a folder.
    func remove(_ path: String) {
        use(()) { (database) throws(Database.Failure) in
            try database.run("DELETE FROM file WHERE path = ?", [.text(path)])
            // "0" follows "/".
            try database.run(
                "DELETE FROM file WHERE path > ? AND path < ?", [.text(path + "/"), .text(path + "0")])
        }
    }

    /// Enters the result of an examination.
    /// - Parameter isFresh: whether the file may change without notice.
    func set(_ probe: RecordingProbe, isFresh: Bool, of id: UInt64) {
        use(()) { (database) throws(Database.Failure) in
            let (start, end) = (probe.time.lowerBound.nanoseconds, probe.time.upperBound.nanoseconds)
            let state = probe.isGrowing ? State.growing : isFresh ? .fresh : .examined
            try database.run(
                "UPDATE file SET state = ?, long = ?, start = ?, end = ?, problem = NULL WHERE id = ?",
                [
                    .number(state.rawValue),
                    .number(end.subtractingReportingOverflow(start).partialValue > Self.spans.short ? 1 : 0),
                    .number(start), .number(end), Database.Value(id),
                ])
        }
    }

    /// Enters that a file has no times, with the reason if it is a problem.
    func set(_ state: State, _ problem: String?, of id: UInt64) {
        use(()) { (database) throws(Database.Failure) in
            let text = problem.map(Database.Value.text) ?? .null
            // What was read before still holds if a disk has hiccups.
            let rest = state == .unreadable ? "" : ", long = NULL, start = NULL, end = NULL"
            try database.run(
                "UPDATE file SET state = ?, problem = ?\(rest) WHERE id = ?",
                [.number(state.rawValue), text, Database.Value(id)])
        }
    }

    /// Enters that a fresh file changes no more; one without times is examined once more.
    func finish(_ id: UInt64) {
        use(()) { (database) throws(Database.Failure) in
            try database.run(
                "UPDATE file SET state = start IS NOT NULL WHERE id = ?", [Database.Value(id)])
        }
    }

    /// Has files examined again that could not be read.
    /// - Returns: whether there were any.
    func retryUnreadable(most: Int) -> Bool {
        use(false) { (database) throws(Database.Failure) in
            try database.run(
                "UPDATE file SET state = 0 WHERE id IN (SELECT id FROM file WHERE state = 4 LIMIT ?)",
                [Database.Value(most)])
            return database.changes > 0
        }
    }

    var hasUnreadable: Bool {
        use(false) { (database) throws(Database.Failure) in
            try database.number("SELECT 1 FROM file WHERE state = 4 LIMIT 1") != nil
        }
    }

    // MARK: Questions

    private static let columns = "id, path, device, inode, size, modification, state, start, end"

    private func entry(_ row: Database.Row) -> Entry {
        let device = dev_t(truncatingIfNeeded: row.number(2))
        let file = RecordingFile(
            path: row.text(1).split(separator: "/").map(String.init),
            identity: FileIdentity(
                device: device == 0 ? self.device : device, inode: ino_t(truncatingIfNeeded: row.number(3))),
            size: Int(row.number(4)), modification: WallTime(nanoseconds: row.number(5)))
        let (start, end) = (row.number(7), row.number(8))
        return Entry(
            id: UInt64(row.number(0)), file: file, state: State(rawValue: row.number(6)) ?? .waiting,
            time: row.isNull(7) || start > end
                ? nil : WallTime(nanoseconds: start)..<WallTime(nanoseconds: end))
    }

    private func entries(_ condition: String, _ values: [Database.Value]) -> [Entry] {
        use([]) { (database) throws(Database.Failure) in
            var entries: [Entry] = []
            try database.run("SELECT \(Self.columns) FROM file WHERE \(condition)", values) {
                entries.append(entry($0))
                return true
            }
            return entries
        }
    }

    /// The file with a number.
    subscript(id: UInt64) -> Entry? {
        Int64(exactly: id).flatMap { entries("id = ?", [.number($0)]).first }
    }

    /// Files that wait for their examination, newest first.
    func waiting(most: Int) -> [Entry] {
        entries("state = 0 ORDER BY modification DESC LIMIT ?", [Database.Value(most)])
    }

    /// Files that recorders are writing, and fresh ones, newest first.
    func unfinished(most: Int) -> [Entry] {
        entries("state IN (2, 5) ORDER BY modification DESC LIMIT ?", [Database.Value(most)])
    }

    /// Whether a file that waits may have been recorded after a time.
    func awaits(after time: WallTime) -> Bool {
        use(true) { (database) throws(Database.Failure) in
            try database.number(
                "SELECT 1 FROM file WHERE state = 0 AND modification >= ? LIMIT 1",
                [.number(time.nanoseconds)]) != nil
        }
    }

    /// The number of files that wait for their examination.
    var waitingCount: Int {
        use(0) { (database) throws(Database.Failure) in
            Int(try database.number("SELECT COUNT(*) FROM file WHERE state = 0") ?? 0)
        }
    }

    /// The recordings of a time, in the order of their beginnings.
    /// - Parameter most: nil is returned if there are more.
    func recorded(in time: Range<WallTime>, most: Int) -> [Entry]? {
        guard !hasMore(than: most, in: time) else { return nil }
        let found = [0, 1].flatMap { long in
            entries("\(Self.overlap) ORDER BY start", Self.bounds(time, time, long))
        }
        return found.sorted { $0.start < $1.start }
    }

    /// Whether more recordings than a number overlap a time; reads nothing but SQLite's index of times.
    private func hasMore(than most: Int, in time: Range<WallTime>) -> Bool {
        use(false) { (database) throws(Database.Failure) in
            var count: Int64 = 0
            for long in [0, 1] as [Int64] {
                count +=
                    try database.number(
                        "SELECT COUNT(*) FROM (SELECT 1 FROM file WHERE \(Self.overlap) LIMIT ?)",
                        Self.bounds(time, time, long) + [Database.Value(most + 1)]) ?? 0
            }
            return count > most
        }
    }

    private static let overlap = "long = ? AND start IS NOT NULL AND start >= ? AND start < ? AND end > ?"

    /// The values for `overlap`: of recordings that begin in one time and overlap another.
    private static func bounds(
        _ beginning: Range<WallTime>, _ time: Range<WallTime>, _ long: Int64
    ) -> [Database.Value] {
        let reach =
            beginning.lowerBound > time.lowerBound
            ? .zero : Duration.nanoseconds(long == 0 ? spans.short : spans.long)
        let times = [beginning.lowerBound - reach, beginning.upperBound, time.lowerBound]
        return [.number(long)] + times.map { .number($0.nanoseconds) }
    }

    /// The recordings of a time as few runs: shorter gaps than `gap` are not shown.
    func runs(in time: Range<WallTime>, gap: Duration) -> [Run] {
        use([]) { (database) throws(Database.Failure) in
            var runs: [Run] = []
            for long in [0, 1] as [Int64] {
                let first = runs.count
                var begin = time.lowerBound
                // SQLite adds up a million recordings faster than it hands them over.
                while begin < time.upperBound {
                    let end = min(begin + max(gap, .milliseconds(1)), time.upperBound)
                    let values = Self.bounds(begin..<end, time, long)
                    begin = end
                    try database.run(
                        "SELECT min(start), max(end), sum(size), count(*) FROM file WHERE \(Self.overlap)",
                        values
                    ) { row in
                        guard let run = Self.run(row) else { return true }
                        if runs.count > first, let joined = runs[runs.count - 1].joined(run, over: gap) {
                            runs[runs.count - 1] = joined
                        } else {
                            runs.append(run)
                        }
                        return true
                    }
                }
            }
            return runs.sorted { $0.time.lowerBound < $1.time.lowerBound }
        }
    }

    private static func run(_ row: Database.Row) -> Run? {
        let (start, end) = (row.number(0), row.number(1))
        guard row.number(3) > 0, start <= end else { return nil }
        return Run(
            time: WallTime(nanoseconds: start)..<WallTime(nanoseconds: end), bytes: Int(row.number(2)),
            count: Int(row.number(3)))
    }

    /// From the first to the last picture of all recordings, leaving out wrong dates; nil if there are none.
    func extent(at now: WallTime) -> Range<WallTime>? {
        use(nil) { (database) throws(Database.Failure) in
            var extent: Range<WallTime>?
            let limits = [Self.earliest, now + Self.future].map { Database.Value($0.nanoseconds) }
            for long in [0, 1] as [Int64] {
                for order in ["", "DESC"] {
                    try database.run(
                        "SELECT start, end FROM file WHERE long = ? AND start IS NOT NULL AND start >= ? AND start < ? "
                            + "ORDER BY start \(order) LIMIT 1", [.number(long)] + limits
                    ) { row in
                        let (start, end) = (
                            WallTime(nanoseconds: row.number(0)),
                            min(WallTime(nanoseconds: row.number(1)), now + Self.future)
                        )
                        let known = extent ?? start..<max(start, end)
                        extent = min(known.lowerBound, start)..<max(known.upperBound, end)
                        return false
                    }
                }
            }
            return extent
        }
    }

    /// Bytes and number of all recordings that were examined and began at a time or later.
    func sum(since time: WallTime = WallTime(nanoseconds: .min)) -> (bytes: Int, count: Int) {
        use((0, 0)) { (database) throws(Database.Failure) in
            var (bytes, count) = (0, 0)
            for long in [0, 1] as [Int64] {
                // Unlike sum(), total() does not overflow.
                try database.run(
                    "SELECT total(size), count(*) FROM file WHERE long = ? AND start IS NOT NULL AND start >= ?",
                    [.number(long), .number(time.nanoseconds)]
                ) { row in
                    (bytes, count) = (bytes.addingSaturated(Int(row.number(0))), count + Int(row.number(1)))
                    return false
                }
            }
            return (bytes, count)
        }
    }

    /// Problems with files, the newest first, and files with wrong dates.
    func problems(at now: WallTime) -> [RecordingProblem] {
        use([]) { (database) throws(Database.Failure) in
            var problems: [RecordingProblem] = []
            try database.run(
                "SELECT path, problem FROM file WHERE problem IS NOT NULL ORDER BY modification DESC LIMIT ?",
                [Database.Value(Self.mostProblems)]
            ) { row in
                problems.append(RecordingProblem(name: row.text(0), reason: row.text(1)))
                return true
            }
            for (comparison, limit) in [("<", Self.earliest), (">=", now + Self.future)] {
                for long in [0, 1] as [Int64] {
                    try database.run(
                        "SELECT id, path, start FROM file WHERE long = ? AND start IS NOT NULL AND start \(comparison) ? "
                            + "LIMIT ?",
                        [.number(long), .number(limit.nanoseconds), Database.Value(Self.mostProblems)]
                    ) { row in
                        let date = WallTime(nanoseconds: row.number(2)).iso8601.prefix(10)
                        problems.append(
                            RecordingProblem(
                                name: row.text(1),
                                reason: "its date is \(date), so a clock was wrong; download the file here",
                                id: "\(row.number(0))"))
                        return true
                    }
                }
            }
            return problems
        }
    }

    /// The numbers of files after one, in order.
    func numbers(after id: UInt64, most: Int) -> [UInt64] {
        use([]) { (database) throws(Database.Failure) in
            var found: [UInt64] = []
            try database.run(
                "SELECT id FROM file WHERE id > ? ORDER BY id LIMIT ?",
                [Database.Value(id), Database.Value(most)]
            ) { row in
                found.append(UInt64(row.number(0)))
                return true
            }
            return found
        }
    }
}
