import CamPlatform
import Glibc
import Containers

/// The segments that camrec recorded with a pattern, in this run and earlier ones: a text file next to the
/// segments. `--keep` and `--min-free` remove only segments listed in it.
///
/// It has a line for each segment, and a second one, with its size, once it has ended:
///
///     BIRTH ⇥ SIZE ⇥ NAME [⇥ BIRTH ⇥ NAME [⇥ FOLDER]]
///
/// Birth is the file's time of creation in nanoseconds, size is `-` until it is known, and the second pair is the
/// segment's timestamps, with their pattern's folder if it is another one than the segments'. Where the file system
/// knows no time of creation, `INODE@MODIFICATION` takes its place, with the time at which the segment was last
/// written once it has ended. A file is only removed if it is in the journal and still the same file: a regular one,
/// reached without links from the pattern's folder, with a name that the pattern makes, and with the time of creation
/// and the size that the journal states. Copies, files that replaced a segment, and files that cannot be told from
/// such are left alone.
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

    /// The suffix of journals' names.
    static let suffix = ".camrec"
    /// The file is rewritten if it has more lines than this about segments that are gone.
    private static let spareLines = 1000
    /// The most segments of `stuck` to retry at once.
    private static let mostTries = 16

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
                name: name, mark: facts(of: name, in: names.folder).map { Mark($0, isComplete: false) },
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
                let facts = facts(of: ended.files[index].name, in: names.folder), facts.inode == number
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

    /// The oldest segment's age; requires a segment. The time is at most the next segment's creation, even if
    /// the file's own time is later.
    var oldestAge: Age {
        guard let facts = facts(of: entries[0].files[0].name, in: names[0].folder) else {
            return Self.isAbsence(errno) ? .missing : .unknown
        }
        if entries.count > 1, case .birth(let next) = entries[1].files[0].mark {
            return .written(min(facts.modification, next))
        }
        return .written(facts.modification)
    }

    /// A segment that was removed.
    struct Removed {
        let path: String
        /// Bytes.
        let size: Int
    }

    /// Removes the oldest entry, and its files if they are still the recorded ones.
    /// - Returns: nil if nothing was removed.
    func removeOldest() -> Removed? {
        guard !entries.isEmpty else { return nil }
        let entry = entries.removeFirst()
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
            if facts(of: entry.files[0].name, in: names[0].folder) != nil { foreign.append(entry) }
            return nil
        case .failed:
            stuck.append(entry)
            return nil
        case .removed:
            for file in entry.files.dropFirst() { removeTimestamps(file) }
            return Removed(
                path: Self.path(of: entry.files[0], in: names[0].folder), size: entry.size ?? 0)
        }
    }

    private enum Removal {
        case removed
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
        return remove(file, in: names.folder, size: size)
    }

    /// Removes a segment's timestamps, even if this run writes none or writes them elsewhere.
    private func removeTimestamps(_ file: File) {
        for folder in [file.folder, names.last?.folder, names[0].folder].compactMap(\.self) {
            if case .removed = remove(file, in: folder, size: nil) { return }
        }
    }

    private func remove(_ file: File, in folder: String, size: Int?) -> Removal {
        let removal =
            withParent(of: file.name, in: folder) { parent, name -> Removal? in
                guard let facts = calls.facts(parent, name) else { return nil }
                guard facts.isRegular, file.isSame(facts), size == nil || size == facts.size else {
                    return .isForeign
                }
                return unlinkat(parent, name, 0) == 0 ? .removed : .failed
            } ?? nil
        guard let removal else { return Self.isAbsence(errno) ? .isForeign : .failed }
        if case .removed = removal { removeEmptyFolders(of: file.name, in: folder) }
        return removal
    }

    /// Whether an errno means that the name does not exist, as opposed to a disk that cannot be read.
    private static func isAbsence(_ code: Int32) -> Bool { [ENOENT, ENOTDIR, ELOOP].contains(code) }

    /// Removes folders that the pattern created, such as one for each day, after the last file in them.
    private func removeEmptyFolders(of name: String, in folder: String) {
        let path = Folder.of(name)
        guard path != ".", path != "/" else { return }
        let isGone = withParent(of: path, in: folder) { unlinkat($0, $1, AT_REMOVEDIR) == 0 }
        if isGone == true { removeEmptyFolders(of: path, in: folder) }
    }

    /// Opens a file's folder, from the pattern's folder downwards and without following links.
    /// - Returns: nil if that is impossible; errno says why.
    private func withParent<Result>(
        of name: String, in folder: String, _ body: (Int32, String) -> Result
    ) -> Result? {
        let parts = name.split(separator: "/").map(String.init)
        guard let last = parts.last, !parts.contains(".."), !name.hasPrefix("/") else {
            errno = ENOENT
            return nil
        }
        var parent: Int32 = -1
        do throws(FileLocation.Failure) {
            parent = try FileLocation(folder + "/").open(O_RDONLY | O_DIRECTORY)
        } catch {
            // A link in the path does not mean that the files are gone.
            errno = error.link == nil ? error.errno : EACCES
            return nil
        }
        for part in parts.dropLast() where parent >= 0 {
            let next = openat(parent, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            close(parent)
            parent = next
        }
        guard parent >= 0 else { return nil }
        defer { close(parent) }
        return body(parent, last)
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
            let known = Set((stuck + foreign + entries).map { $0.files[0].begun })
            entries = read().filter { !known.contains($0.files[0].begun) } + entries
        }
        // The segment that begins was just created, even if the file system cannot confirm it.
        sortOut(entries.count - 1)
        try compact()
    }

    private func read() -> [Entry] {
        var (entries, indices): ([Entry], [File: Int]) = ([], [:])
        unread = []
        for line in file.lines() {
            guard let entry = Entry(line: line) else {
                unread.append(line)
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
            let facts = facts(of: entry.files[0].name, in: names[0].folder)
            switch facts {
            case nil where Self.isAbsence(errno): if keepsMissing { others.append(entry) }
            // A disk that cannot be read now may be readable later.
            case nil: known.append(entry)
            case let facts? where entry.files[0].isSame(facts):
                // A recorder that was killed could not record its last segment's size.
                known.append(Entry(files: entry.files, size: entry.size ?? facts.size))
            default: others.append(entry)
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

    /// Nil if unknown; errno says why.
    func facts(of name: String, in folder: String) -> FileFacts? {
        withParent(of: name, in: folder) { calls.facts($0, $1) } ?? nil
    }

    /// The number of entries in the file.
    private var keptCount: Int { stuck.count + foreign.count + entries.count }

    /// Rewrites the file with its entries, and the lines that could not be read.
    private func compact() throws(OutputError) {
        try file.replace(by: unread.map { $0 + "\n" } + (stuck + foreign + entries).map(\.line))
        lineCount = keptCount
    }
}

extension SegmentJournal.File {
    /// Whether the file that has the name now is certainly the recorded one.
    fileprivate func isSame(_ facts: FileFacts) -> Bool {
        switch mark {
        case .birth(let birth)?: facts.birth == birth
        case .inode(let number, let modification?)?:
            facts.birth == nil && facts.inode == number && facts.modification == modification
        case .inode(_, nil)?, nil: false
        }
    }

    /// The file as the journal describes it when its segment begins.
    fileprivate var begun: SegmentJournal.File {
        guard case .inode(let number, _) = mark else { return self }
        var file = self
        file.mark = .inode(number, modification: nil)
        return file
    }
}

extension SegmentJournal.Mark {
    /// - Parameter isComplete: whether nothing more is written to the file.
    init(_ facts: FileFacts, isComplete: Bool) {
        self =
            facts.birth.map(Self.birth)
            ?? .inode(facts.inode, modification: isComplete ? facts.modification : nil)
    }
}
