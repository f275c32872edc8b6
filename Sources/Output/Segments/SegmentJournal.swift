import Files
import Glibc

/// What camrec wrote by a pattern, in this run and in those before: a text file beside the segments, from which
/// `--keep` and `--min-free` know what is theirs.
///
/// A line for each segment, and a second one, with its size, when it was ended:
///
///     BIRTH ⇥ SIZE ⇥ NAME [⇥ BIRTH ⇥ NAME]
///
/// Birth is the file's time of creation in nanoseconds, size `-` until it is known, and the second pair the
/// segment's timestamps, named from their own pattern's folder. Only a file that is in the journal is ever removed,
/// and only while it is still that file: a plain one, reached without links from the pattern's folder, under a name
/// that the pattern makes, made at the time that the journal says and as large as it was. Copies, and files that were put in a
/// segment's place, are left alone.
///
/// Entries whose names lead to other files now, as after a copy to another disk, are kept: `adopt` makes them those of
/// the files that are there. So are lines that cannot be read.
///
/// One recorder at a time has it. Recording never fails for its sake: where it cannot be written – the disk is full, or
/// another one – it is written anew with the next segment.
final class SegmentJournal {
    /// A segment, and its timestamps.
    struct Entry: Equatable {
        var files: [File]
        /// Bytes; nil until it was ended.
        var size: Int?
    }

    /// A file by its name from its pattern's folder, and its time of creation.
    struct File: Equatable {
        let name: String
        let birth: Int64
    }

    /// The oldest first; the one that is being written is the last.
    private(set) var entries: [Entry] = []
    /// Of the segments that were ended.
    private(set) var bytes = 0

    /// What other files stand for now than were written, oldest first. They are in the file still.
    private(set) var foreign: [Entry] = []

    let names: [SegmentNames]
    private let file: JournalFile
    /// Whether entries are kept whose files are not there.
    private let keepsMissing: Bool
    /// Lines that are no entries, as they stand in the file.
    private var unread: [String] = []
    /// Segments that were to be removed and could not be. They are in the file still.
    private var stuck: [Entry] = []
    private var lineCount = 0
    /// Entries are missing in the file.
    private var isBehind = false

    /// What journals' names end with.
    static let suffix = ".camrec"
    /// Lines that may be about segments that are gone, before it is written anew.
    private static let spareLines = 1000
    /// So many of the stuck segments are tried at once.
    private static let mostTries = 16

    /// Opens the journal of a pattern, or begins it.
    /// - Parameter names: those of the segments, and those of their timestamps where there are any.
    convenience init(names: [SegmentNames]) throws(OutputError) {
        try self.init(path: Self.path(for: names[0]), names: names)
    }

    /// Where the journal of a pattern is.
    static func path(for names: SegmentNames) -> String {
        let folder = names.folder
        let rest = names.pattern.dropFirst(
            folder == "." && !names.pattern.hasPrefix("./") ? 0 : folder.count)
        let name = rest.drop { $0 == "/" }.map { $0 == "/" ? "_" : String($0) }.joined()
        return "\(folder)/.\(name)\(suffix)"
    }

    /// Opens a journal that is there, whatever its pattern is, or begins it.
    /// - Parameter keepsMissing: whether entries are kept whose files are not there, because they may yet come.
    init(path: String, names: [SegmentNames], keepsMissing: Bool = false) throws(OutputError) {
        (self.names, self.keepsMissing) = (names, keepsMissing)
        file = try JournalFile(path: path, owner: names[0].pattern)
        entries = read()
        sortOut(entries.count)
        // A disk that is full has no room for another; the old one goes on.
        try? compact()
    }

    /// A segment begins. On the disk itself when this returns: what is not in the journal stays forever.
    /// - Parameter paths: the segment, and its timestamps where there are any.
    /// - Returns: why it is not in the file, the first time that it is not.
    func begin(_ paths: [String]) -> OutputError? {
        let files = zip(paths, names).map { path, names in
            let name = Self.relative(path, to: names.folder)
            return File(name: name, birth: facts(of: name, in: names.folder)?.birth ?? 0)
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

    /// The latest segment has come to its end. A full disk may have no room to say so, and then its time of
    /// creation alone tells which file it is.
    func end(size: Int) {
        guard !entries.isEmpty else { return }
        entries[entries.count - 1].size = size
        bytes = bytes.addingSaturated(size)
        if (try? file.append(entries[entries.count - 1].line)) != nil { lineCount += 1 }
    }

    /// The latest segment came to nothing: there is no such file.
    func cancel() { if !entries.isEmpty { entries.removeLast() } }

    /// What is known of the oldest segment's age.
    enum Age {
        /// Last at this time, in nanoseconds since 1970.
        case written(Int64)
        /// Somebody has removed it, or moved it away.
        case missing
        /// The disk does not say.
        case unknown
    }

    /// Of a segment that there is. It was written no later than when the next one began, whatever its file says now.
    var oldestAge: Age {
        guard let facts = facts(of: entries[0].files[0].name, in: names[0].folder) else {
            return Self.isAbsence(errno) ? .missing : .unknown
        }
        let next = entries.count > 1 ? entries[1].files[0].birth : 0
        return .written(next > 0 ? min(facts.modification, next) : facts.modification)
    }

    /// A segment that is gone.
    struct Removed {
        let path: String
        /// Bytes.
        let size: Int
    }

    /// Forgets the oldest segment, and removes its files where they are still what was written.
    /// - Returns: nil where nothing was removed.
    func removeOldest() -> Removed? {
        guard !entries.isEmpty else { return nil }
        let entry = entries.removeFirst()
        bytes -= entry.size ?? 0
        return remove(entry)
    }

    /// Tries again to remove what could not be.
    func removeStuck() -> [Removed] {
        let tried = stuck.prefix(Self.mostTries)
        stuck.removeFirst(tried.count)
        return tried.compactMap(remove)
    }

    private func remove(_ entry: Entry) -> Removed? {
        switch remove(entry.files[0], of: names[0], size: entry.size) {
        // A segment that is somebody's own now keeps its timestamps.
        case .isForeign:
            if facts(of: entry.files[0].name, in: names[0].folder) != nil { foreign.append(entry) }
            return nil
        case .failed:
            stuck.append(entry)
            return nil
        case .removed:
            for (file, names) in zip(entry.files, names).dropFirst() {
                _ = remove(file, of: names, size: nil)
            }
            return Removed(
                path: Self.path(of: entry.files[0], in: names[0].folder), size: entry.size ?? 0)
        }
    }

    private enum Removal {
        case removed
        /// It is gone, or not what was written.
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

    private func remove(_ file: File, of names: SegmentNames, size: Int?) -> Removal {
        guard names.covers(Self.path(of: file, in: names.folder)) || names.covers("./" + file.name) else {
            return .isForeign
        }
        let removal =
            withParent(of: file.name, in: names.folder) { parent, name -> Removal? in
                guard let facts = FileFacts(path: name, in: parent) else { return nil }
                guard facts.isRegular, facts.birth == file.birth, size == nil || size == facts.size else {
                    return .isForeign
                }
                return unlinkat(parent, name, 0) == 0 ? .removed : .failed
            } ?? nil
        guard let removal else { return Self.isAbsence(errno) ? .isForeign : .failed }
        if case .removed = removal { removeEmptyFolders(of: file.name, in: names.folder) }
        return removal
    }

    /// Whether there is nothing under a name, as against a disk that does not say what there is.
    private static func isAbsence(_ code: Int32) -> Bool { [ENOENT, ENOTDIR, ELOOP].contains(code) }

    /// Those that the pattern made, a day's for example, go with the last that was in them.
    private func removeEmptyFolders(of name: String, in folder: String) {
        let path = Folder.of(name)
        guard path != ".", path != "/" else { return }
        let isGone = withParent(of: path, in: folder) { unlinkat($0, $1, AT_REMOVEDIR) == 0 }
        if isGone == true { removeEmptyFolders(of: path, in: folder) }
    }

    /// Opens the folder that a file is in, going from the pattern's folder through no links and never up.
    /// - Returns: nil where that cannot be; errno says why.
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
            // That somebody put a link into the way does not mean that the files are gone.
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

    /// A path as the journal has it.
    private static func relative(_ path: String, to folder: String) -> String {
        let rest = path.hasPrefix(folder + "/") ? path.dropFirst(folder.count) : path[...]
        return String(rest.drop { $0 == "/" })
    }
}

// MARK: What is in the file

extension SegmentJournal {
    /// Writes the journal anew, with what another one says that is in its place now.
    private func renew() throws(OutputError) {
        if !file.isInPlace {
            try file.reopen()
            let known = Set((stuck + foreign + entries).map { $0.files[0] })
            entries = read().filter { !known.contains($0.files[0]) } + entries
        }
        // The segment that begins has just been made, whatever the file system says of it.
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
            if let index = indices[entry.files[0]] {
                entries[index] = entry
            } else {
                indices[entry.files[0]] = entries.count
                entries.append(entry)
            }
        }
        return entries
    }

    /// Forgets those of the first entries whose files are there no more, and sets those aside that lead to others.
    private func sortOut(_ count: Int) {
        var (known, others): ([Entry], [Entry]) = ([], [])
        for entry in entries[..<count] {
            let facts = facts(of: entry.files[0].name, in: names[0].folder)
            switch facts {
            case nil where Self.isAbsence(errno): if keepsMissing { others.append(entry) }
            // A disk that does not say what there is may say so later.
            case nil: known.append(entry)
            case let facts? where facts.birth == entry.files[0].birth:
                // A recorder that was killed could not say how large its last segment was.
                known.append(Entry(files: entry.files, size: entry.size ?? facts.size))
            default: others.append(entry)
            }
        }
        entries.replaceSubrange(..<count, with: known)
        bytes = entries.reduce(0) { $0.addingSaturated($1.size ?? 0) }
        setAside(others)
    }

    /// Of a name that was used again only the last file is of interest, and none where that is known.
    private func setAside(_ others: [Entry]) {
        var names = Set(entries.map(\.files[0].name))
        foreign = Array(
            (foreign + others).reversed().filter { names.insert($0.files[0].name).inserted }.reversed())
    }

    /// Puts entries that were set aside in order.
    func replaceForeign(by adopted: [Entry], leaving left: [Entry]) throws(OutputError) {
        (entries, foreign) = (adopted + entries, left)
        bytes = entries.reduce(0) { $0.addingSaturated($1.size ?? 0) }
        try compact()
    }

    /// Nil where it cannot be told; errno says why.
    func facts(of name: String, in folder: String) -> FileFacts? {
        withParent(of: name, in: folder) { FileFacts(path: $1, in: $0) } ?? nil
    }

    /// Entries that are in the file.
    private var keptCount: Int { stuck.count + foreign.count + entries.count }

    /// Leaves nothing but the entries in the file, and what could not be read.
    private func compact() throws(OutputError) {
        try file.replace(by: unread.map { $0 + "\n" } + (stuck + foreign + entries).map(\.line))
        lineCount = keptCount
    }
}

extension SegmentJournal.File: Hashable {}
