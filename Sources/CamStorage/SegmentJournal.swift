import CamPlatform
import Glibc
import Containers

/// The segments that camrec recorded with a pattern, in this run and earlier ones: a text file next to the
/// segments. `--keep` and `--min-free` remove only segments listed in it.
///
/// It has a line for each segment, and a second one, with its size, once it has ended:
///
///     [keep ⇥] BIRTH ⇥ SIZE ⇥ NAME [⇥ BIRTH ⇥ NAME [⇥ FOLDER]]
///
/// The last line about a segment holds. `keep` marks a segment that no limit removes, although it counts. Versions
/// without such marks cannot read these lines and leave them in the file, so that they do not remove the segments.
///
/// Birth is the file's time of creation in nanoseconds, size is `-` until it is known, and the second pair is the
/// segment's timestamps, with their pattern's folder if it is another one than the segments'. Where the file system
/// knows no time of creation, `INODE@MODIFICATION` takes its place, with the time at which the segment was last
/// written once it has ended. A file is only removed if it is in the journal and still the same file: a regular one,
/// reached without links from the pattern's folder, with a name that the pattern makes, and with the time of creation
/// (`StoredBirth` says how exactly) and the size that the journal states. Copies, files that replaced a segment, and
/// files that cannot be told from such are left alone.
///
/// Entries whose names now lead to other files, for example after a copy to another disk, are kept, and
/// `adopt` assigns them to these files. Lines that cannot be read are kept, too.
///
/// One recorder at a time uses it. Recording never fails because of it: if it cannot be written, because the
/// disk is full or another one is mounted, it is rewritten with the next segment.
final class SegmentJournal {
    /// A segment, and its timestamps.
    struct Entry: Equatable {
        var files: [File]
        /// Bytes; nil until the segment has ended.
        var size: Int?
        /// Whether it stays although a limit is exceeded.
        var isKept = false
    }

    /// A file's name, relative to its pattern's folder, and what identifies it.
    struct File: Hashable {
        let name: String
        /// Nil if it is unknown.
        var mark: Mark?
        /// The folder of timestamps that are not in the segments' folder.
        var folder: String?
    }

    /// Distinguishes a file from any other file that may have its name later.
    enum Mark: Hashable {
        case birth(WallTime)
        /// Where the file system knows no time of creation. A later file can have the same number, so that it says
        /// nothing without the time at which the file was last written: nil until the segment has ended.
        case inode(UInt64, modification: WallTime?)
    }

    /// Oldest first; the segment that is being written is the last.
    private(set) var entries: [Entry] = []
    /// Bytes of the segments that have ended.
    private(set) var bytes = 0

    /// Entries whose names now lead to other files, oldest first. They are still in the file.
    private(set) var foreign: [Entry] = []

    let names: [FileNamePattern]
    private let file: JournalFile
    private let calls: FileCalls
    /// Whether entries are kept whose files do not exist.
    private let keepsMissing: Bool
    /// Lines of the file that are not entries.
    private var unread: [String] = []
    /// Segments that could not be removed. They are still in the file.
    private var stuck: [Entry] = []
    private var lineCount = 0
    /// Whether entries are missing in the file.
    private var isBehind = false

    /// The kept segment that is looked at next.
    private var nextLook = 0

    /// The suffix of journals' names.
    static let suffix = ".camrec"
    /// The file is rewritten if it has more lines than this about segments that are gone.
    private static let spareLines = 1000
    /// The most segments of `stuck` to retry at once.
    private static let mostTries = 16
    /// The most kept segments to look for at once.
    private static let mostLooks = 256

    /// Opens a pattern's journal, or creates it.
    /// - Parameter names: the segments' names, and those of their timestamps if there are any.
    convenience init(names: [FileNamePattern], calls: FileCalls = FileCalls()) throws(OutputError) {
        try self.init(path: Self.path(for: names[0]), names: names, calls: calls)
    }

    /// Returns the path of a pattern's journal.
    static func path(for names: FileNamePattern) -> String {
        let folder = names.folder
        let rest = names.pattern.dropFirst(
            folder == "." && !names.pattern.hasPrefix("./") ? 0 : folder.count)
        let name = rest.drop { $0 == "/" }.map { $0 == "/" ? "_" : String($0) }.joined()
        return "\(folder)/.\(name)\(suffix)"
    }

    /// Opens the journal at a path, whatever its pattern is, or creates it.
    /// - Parameter keepsMissing: whether entries are kept whose files do not exist, because they may be copied later.
    init(
        path: String, names: [FileNamePattern], keepsMissing: Bool = false, calls: FileCalls = FileCalls()
    ) throws(OutputError) {
        (self.names, self.keepsMissing, self.calls) = (names, keepsMissing, calls)
        file = try JournalFile(path: path, owner: names[0].pattern, calls: calls)
        entries = read()
        sortOut(entries.count)
        // A full disk has no room for another file; the old one stays in use.
        try? compact()
    }

    /// Adds a segment that begins, and flushes the entry to the disk: files not in the journal are never
    /// removed.
    /// - Parameter paths: the segment, and its timestamps if there are any.
    /// - Returns: the error if it could not be added, only for the first of successive failures.
    func begin(_ paths: [String]) -> OutputError? {
        let files = zip(paths, names).map { path, names in
            let name = Self.relative(path, to: names.folder)
            return File(
                name: name,
                mark: (try? facts(of: name, in: names.folder).get()).map { Mark($0, isComplete: false) },
                folder: isElsewhere(names) ? Folder.absolute(names.folder) : nil)
        }
        entries.append(Entry(files: files, size: nil))
        let wasBehind = isBehind
        do throws(OutputError) {
            if isBehind || !file.isInPlace || lineCount > 2 * keptCount + Self.spareLines {
                try renew()
            } else {
                try file.append(entries[entries.count - 1].line)
                lineCount += 1
            }
            isBehind = false
            return nil
        } catch {
            isBehind = true
            return wasBehind ? nil : error
        }
    }

    /// The errno of locking the journal, which not every file system supports; nil if the journal is locked.
    var lockFailure: Int32? { file.lockFailure }

    /// Records the latest segment's final size. If a full disk has no room for that, only the time of
    /// creation identifies the file.
    func end(size: Int) {
        guard var ended = entries.popLast() else { return }
        ended.size = size
        for (index, names) in zip(ended.files.indices, names) {
            guard case .inode(let number, _) = ended.files[index].mark,
                case .success(let facts) = facts(of: ended.files[index].name, in: names.folder),
                facts.inode == number
            else { continue }
            ended.files[index].mark = Mark(facts, isComplete: true)
        }
        entries.append(ended)
        bytes = bytes.addingSaturated(size)
        if (try? file.append(entries[entries.count - 1].line)) != nil { lineCount += 1 }
    }

    /// Removes the latest entry, whose segment left no file.
    func cancel() { if !entries.isEmpty { entries.removeLast() } }

    /// The age of the oldest segment.
    enum Age {
        /// When it was last written.
        case written(WallTime)
        /// It was removed or moved.
        case missing
        /// The disk cannot be read.
        case unknown
    }

    /// Whether there is a segment that may be removed.
    /// - Parameter isWriting: whether the last one is being written, and stays.
    func hasRemovable(isWriting: Bool) -> Bool {
        entries.dropLast(isWriting ? 1 : 0).contains { !$0.isKept }
    }

    /// The age of the oldest segment that is not kept; requires one. The time is at most the next segment's creation,
    /// even if the file's own time is later.
    var oldestAge: Age {
        guard let index = entries.firstIndex(where: { !$0.isKept }) else { return .unknown }
        let oldest = entries[index]
        switch facts(of: oldest.files[0].name, in: names[0].folder) {
        case .failure(let error): return error.isAbsence ? .missing : .unknown
        case .success(let facts):
            // In another time zone, both times of the file are shifted.
            let written = facts.modification - (oldest.files[0].offset(of: facts, size: oldest.size) ?? .zero)
            if entries.count > index + 1, case .birth(let next) = entries[index + 1].files[0].mark {
                return .written(min(written, next))
            }
            return .written(written)
        }
    }

    /// A segment that was removed.
    struct Removed {
        let path: String
        /// Bytes.
        let size: Int
    }

    /// Removes the oldest entry that is not kept, and its files if they are still the recorded ones.
    /// - Returns: nil if nothing was removed.
    func removeOldest() -> Removed? {
        // Where no locks work, 'camrec keep' may have replaced the file.
        if !file.isInPlace { try? renew() }
        guard let index = entries.firstIndex(where: { !$0.isKept }) else { return nil }
        let entry = entries.remove(at: index)
        bytes -= entry.size ?? 0
        return remove(entry)
    }

    /// Retries segments that could not be removed.
    func removeStuck() -> [Removed] {
        let tried = stuck.prefix(Self.mostTries)
        stuck.removeFirst(tried.count)
        return tried.compactMap(remove)
    }

    private func remove(_ entry: Entry) -> Removed? {
        switch remove(entry.files[0], of: names[0], size: entry.size) {
        // A file that replaced the segment keeps the timestamps.
        case .isForeign:
            if case .success = facts(of: entry.files[0].name, in: names[0].folder) { foreign.append(entry) }
            return nil
        case .failed:
            stuck.append(entry)
            return nil
        case .removed(let offset):
            for file in entry.files.dropFirst() { removeTimestamps(file, offset: offset) }
            return Removed(
                path: Self.path(of: entry.files[0], in: names[0].folder), size: entry.size ?? 0)
        }
    }

    private enum Removal {
        /// With the offset of its time of creation.
        case removed(offset: Duration)
        /// It does not exist, or is not the file that was written.
        case isForeign
        case failed
    }

    private static func path(of file: File, in folder: String) -> String {
        switch folder {
        case ".": file.name
        case "/": "/" + file.name
        default: "\(folder)/\(file.name)"
        }
    }

    private func remove(_ file: File, of names: FileNamePattern, size: Int?) -> Removal {
        guard names.covers(Self.path(of: file, in: names.folder)) || names.covers("./" + file.name) else {
            return .isForeign
        }
        return remove(file, in: names.folder) { facts in
            size == nil || size == facts.size ? file.offset(of: facts, size: size) : nil
        }
    }

    /// Removes a segment's timestamps, even if this run writes none or writes them elsewhere.
    /// - Parameter offset: that of the segment's time of creation, which the timestamps share.
    private func removeTimestamps(_ file: File, offset: Duration) {
        for folder in [file.folder, names.last?.folder, names[0].folder].compactMap(\.self) {
            let removal = remove(file, in: folder) { facts in
                file.offset(of: facts, size: facts.size) == offset ? offset : nil
            }
            if case .removed = removal { return }
        }
    }

    /// - Parameter offset: returns the offset of the file's time of creation; nil if it is another file.
    private func remove(_ file: File, in folder: String, offset: (FileFacts) -> Duration?) -> Removal {
        do throws(FileLocation.Failure) {
            let removal = try withParent(of: file.name, in: folder) {
                (parent, name) throws(FileLocation.Failure) -> Removal in
                let facts = try calls.facts(parent, name)
                guard facts.isRegular, let offset = offset(facts) else { return .isForeign }
                return unlinkat(parent, name, 0) == 0 ? .removed(offset: offset) : .failed
            }
            if case .removed = removal { removeEmptyFolders(of: file.name, in: folder) }
            return removal
        } catch { return error.isAbsence ? .isForeign : .failed }
    }

    /// Removes folders that the pattern created, such as one for each day, after the last file in them.
    private func removeEmptyFolders(of name: String, in folder: String) {
        let path = Folder.of(name)
        guard path != ".", path != "/" else { return }
        let isGone = try? withParent(of: path, in: folder) { unlinkat($0, $1, AT_REMOVEDIR) == 0 }
        if isGone == true { removeEmptyFolders(of: path, in: folder) }
    }

    /// Opens a file's folder, from the pattern's folder downwards and without following links.
    private func withParent<Result>(
        of name: String, in folder: String, _ body: (Int32, String) throws(FileLocation.Failure) -> Result
    ) throws(FileLocation.Failure) -> Result {
        let parts = name.split(separator: "/").map(String.init)
        guard let last = parts.last, !parts.contains(".."), !name.hasPrefix("/") else {
            throw FileLocation.Failure(errno: ENOENT)
        }
        var parent = try FileLocation(folder + "/").open(O_RDONLY | O_DIRECTORY)
        for part in parts.dropLast() where parent >= 0 {
            let next = openat(parent, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            let code = errno
            close(parent)
            parent = next >= 0 ? next : -code
        }
        guard parent >= 0 else { throw FileLocation.Failure(errno: -parent) }
        defer { close(parent) }
        return try body(parent, last)
    }

    /// Whether a pattern's folder differs from the segments' folder.
    private func isElsewhere(_ other: FileNamePattern) -> Bool {
        other.folder != names[0].folder
            && Folder.absolute(other.folder) != Folder.absolute(names[0].folder)
    }

    /// Returns a path relative to the pattern's folder, as in the journal.
    private static func relative(_ path: String, to folder: String) -> String {
        let rest = path.hasPrefix(folder + "/") ? path.dropFirst(folder.count) : path[...]
        return String(rest.drop { $0 == "/" })
    }
}

// MARK: The file's content

extension SegmentJournal {
    /// Rewrites the journal, merged with the one that has taken its place, if any.
    private func renew() throws(OutputError) {
        if !file.isInPlace {
            try file.reopen()
            let found = read()
            let known = Set((stuck + foreign + entries).map { $0.files[0].begun })
            takeMarks(of: found)
            entries = found.filter { !known.contains($0.files[0].begun) } + entries
        }
        // The segment that begins was just created, even if the file system cannot confirm it.
        sortOut(entries.count - 1)
        try compact()
    }

    /// Takes over which segments another process keeps.
    private func takeMarks(of found: [Entry]) {
        let marks = Dictionary(found.map { ($0.files[0].begun, $0.isKept) }) { $1 }
        for index in entries.indices {
            entries[index].isKept = marks[entries[index].files[0].begun] ?? entries[index].isKept
        }
    }

    private func read() -> [Entry] {
        unread = []
        return Self.entries(of: file.lines()) { unread.append($0) }
    }

    /// The entries that lines describe, in their order.
    /// - Parameter unread: receives the lines that are no entries.
    static func entries(of lines: [String], unread: (String) -> Void = { _ in }) -> [Entry] {
        var (entries, indices): ([Entry], [File: Int]) = ([], [:])
        for line in lines {
            guard let entry = Entry(line: line) else {
                unread(line)
                continue
            }
            if let index = indices[entry.files[0].begun] {
                entries[index] = entry
            } else {
                indices[entry.files[0].begun] = entries.count
                entries.append(entry)
            }
        }
        return entries
    }

    /// Among the first entries, removes entries whose files are gone, and sets aside entries that lead to
    /// other files.
    private func sortOut(_ count: Int) {
        var (known, others): ([Entry], [Entry]) = ([], [])
        for entry in entries[..<count] {
            switch facts(of: entry.files[0].name, in: names[0].folder) {
            case .failure(let error) where error.isAbsence: if keepsMissing { others.append(entry) }
            // A disk that cannot be read now may be readable later.
            case .failure: known.append(entry)
            case .success(let facts) where entry.files[0].offset(of: facts, size: entry.size) != nil:
                // A recorder that was killed could not record its last segment's size.
                var sized = entry
                sized.size = entry.size ?? facts.size
                known.append(sized)
            case .success: others.append(entry)
            }
        }
        entries.replaceSubrange(..<count, with: known)
        bytes = entries.reduce(0) { $0.addingSaturated($1.size ?? 0) }
        setAside(others)
    }

    /// Sets entries aside. Of entries with equal names it keeps only the last, and none if a known entry has
    /// the name.
    private func setAside(_ others: [Entry]) {
        var names = Set(entries.map(\.files[0].name))
        foreign = Array(
            (foreign + others).reversed().filter { names.insert($0.files[0].name).inserted }.reversed())
    }

    /// Replaces the entries that were set aside: adopted ones count from now on.
    func replaceForeign(by adopted: [Entry], leaving left: [Entry]) throws(OutputError) {
        (entries, foreign) = (adopted + entries, left)
        bytes = entries.reduce(0) { $0.addingSaturated($1.size ?? 0) }
        try compact()
    }

    /// Marks segments as kept, or removes their marks, and flushes that to the disk.
    /// - Throws: if it cannot be written; the marks stay as they were.
    func setKept(_ isKept: Bool, at indices: [Int]) throws(OutputError) {
        let changed = indices.filter { entries[$0].isKept != isKept }
        guard !changed.isEmpty else { return }
        for index in changed { entries[index].isKept = isKept }
        do throws(OutputError) {
            try compact()
            isBehind = false
        } catch {
            // A full disk may have room for a few lines. Earlier versions would still see the lines without the mark.
            do throws(OutputError) {
                guard !isBehind else { throw error }
                try file.append(changed.map { entries[$0].line }.joined())
                lineCount += changed.count
            } catch {
                for index in changed { entries[index].isKept = !isKept }
                throw error
            }
        }
    }

    /// Puts segments that could not be removed back to the others.
    func restoreStuck(_ names: [String]) {
        let found = stuck.filter { names.contains($0.files[0].name) }
        guard !found.isEmpty else { return }
        stuck.removeAll { names.contains($0.files[0].name) }
        entries = found + entries
        bytes = entries.reduce(0) { $0.addingSaturated($1.size ?? 0) }
    }

    /// Makes sure that the journal is the one at its path, which another process may have replaced.
    func refresh() throws(OutputError) { if !file.isInPlace { try renew() } }

    /// Whether the file that has a segment's name is certainly the recorded one, or is being written.
    func isInPlace(_ entry: Entry) -> Bool {
        guard entry.size != nil else { return true }
        guard case .success(let facts) = facts(of: entry.files[0].name, in: names[0].folder) else {
            return false
        }
        return facts.isRegular && entry.files[0].offset(of: facts, size: entry.size) != nil
    }

    /// Forgets kept segments that somebody removed, so that they no longer count. Looks at some of them at a time.
    func forgetMissing() {
        let kept = entries.indices.filter { entries[$0].isKept && entries[$0].size != nil }
        guard !kept.isEmpty else { return }
        let start = nextLook % kept.count
        let looked = (kept[start...] + kept[..<start]).prefix(Self.mostLooks)
        nextLook = (start + looked.count) % kept.count
        for index in looked.sorted(by: >) {
            guard case .failure(let error) = facts(of: entries[index].files[0].name, in: names[0].folder),
                error.isAbsence
            else { continue }
            bytes -= entries.remove(at: index).size ?? 0
        }
    }

    /// The facts about a file, by its name in the journal.
    func facts(of name: String, in folder: String) -> Result<FileFacts, FileLocation.Failure> {
        Result { () throws(FileLocation.Failure) in
            try withParent(of: name, in: folder) {
                (parent, name) throws(FileLocation.Failure) in try calls.facts(parent, name)
            }
        }
    }

    /// The number of entries in the file.
    private var keptCount: Int { stuck.count + foreign.count + entries.count }

    /// Rewrites the file with its entries, and the lines that could not be read.
    private func compact() throws(OutputError) {
        try file.replace(by: unread.map { $0 + "\n" } + (stuck + foreign + entries).map(\.line))
        lineCount = keptCount
    }
}
