import CamPlatform
import CamStorage
import Glibc

/// Reads a folder of recordings and the folders below it, some entries at a time, the newest first: what a recorder's
/// journal names last, then the highest names of each folder, which are the newest where names have the time in them, and
/// then the rest. Memory does not grow with the number of files.
final class FolderWalk {
    private let folder: RecordingFolder
    private let place: RecordingsPlace
    private let watch: FolderWatch?
    /// The folder within the place at which the reading began.
    let path: [String]
    private var levels: [Level] = []
    /// Folders and files that could not be read.
    private(set) var problems: [RecordingProblem] = []
    /// Whether a folder could not be read.
    private(set) var isIncomplete = false

    /// A folder that is being read.
    private final class Level {
        let path: [String]
        let stream: OpaquePointer
        var phase = Phase.names
        var folders: [String] = []
        /// The highest names of files.
        var names: [String] = []
        /// Lower names are not among the highest; nil before there are too many.
        var lowest: ContiguousArray<CChar>?
        var fileCount = 0

        enum Phase { case names, newest, folders, rest }

        init(path: [String], stream: OpaquePointer) { (self.path, self.stream) = (path, stream) }

        deinit { closedir(stream) }

        /// Sorts the highest names, and forgets the others.
        func prune() {
            names.sort()
            names.removeFirst(max(0, names.count - FolderWalk.firstFiles))
            if names.count == FolderWalk.firstFiles { lowest = names.first?.utf8CString }
        }

        /// Whether an entry need not be looked at before the highest names: most are of that kind.
        func isLow(_ name: UnsafePointer<CChar>, _ kind: Int) -> Bool {
            guard phase == .names, kind == DT_REG, let lowest else { return false }
            return lowest.withUnsafeBufferPointer { $0.baseAddress.map { strcmp(name, $0) < 0 } ?? false }
        }
    }

    /// The number of files that come first, of each folder.
    private static let firstFiles = 4096
    static let mostProblems = 20

    /// - Parameters:
    ///   - path: the folder within the place at which to begin.
    ///   - watch: watches each folder before it is read.
    init(_ folder: RecordingFolder, _ place: RecordingsPlace, from path: [String] = [], _ watch: FolderWatch?)
    {
        (self.folder, self.place, self.path, self.watch) = (folder, place, path, watch)
        enter(path)
    }

    /// Reads some entries.
    /// - Parameter found: called with each recording; with some of them twice.
    /// - Returns: whether there is more to read.
    func step(entries: Int, found: (RecordingFile) -> Void) -> Bool {
        var count = 0
        while count < entries, let level = levels.last {
            switch level.phase {
            case .names: count += readName(level, found)
            case .newest:
                guard let name = level.names.popLast() else {
                    level.phase = .folders
                    continue
                }
                count += 1
                take(name, level, found)
            case .folders:
                if let name = level.folders.popLast() {
                    enter(level.path + [name])
                } else if level.fileCount > Self.firstFiles {
                    rewinddir(level.stream)
                    level.phase = .rest
                } else {
                    levels.removeLast()
                }
            case .rest:
                count += 1
                guard let (name, kind) = next(level) else {
                    levels.removeLast()
                    continue
                }
                if let name, kind != DT_DIR, place.covers(Self.text(level.path, name)) {
                    take(name, level, found)
                }
            }
        }
        return !levels.isEmpty
    }

    private func enter(_ path: [String]) {
        do throws(FileLocation.Failure) {
            // Each reading needs an open folder with a separate position.
            let descriptor = try folder.open(path, O_RDONLY | O_DIRECTORY)
            // Changes during the reading must not be missed.
            watch?.add(descriptor, at: path)
            guard let stream = fdopendir(descriptor) else {
                let code = errno
                close(descriptor)
                throw FileLocation.Failure(errno: code)
            }
            levels.append(Level(path: path, stream: stream))
        } catch {
            if !error.isAbsence { noteFailure(path, error.errno) }
        }
    }

    private func noteFailure(_ path: [String], _ code: Int32) {
        note(path.joined(separator: "/"), String(cString: strerror(code)))
        isIncomplete = true
    }

    /// - Returns: the next entry, without a name if it cannot be shown; nil at the end.
    private func next(_ level: Level) -> (name: String?, kind: Int)? {
        errno = 0
        guard let entry = readdir(level.stream) else {
            if errno != 0 { noteFailure(level.path, errno) }
            return nil
        }
        let kind = Int(entry.pointee.d_type)
        return withUnsafeBytes(of: entry.pointee.d_name) { bytes in
            if let name = bytes.bindMemory(to: CChar.self).baseAddress, name[0] != 0x2E,
                level.isLow(name, kind)
            {
                level.fileCount += 1
                return (nil, kind)
            }
            let bytes = bytes.prefix { $0 != 0 }
            if let name = String(validating: bytes, as: UTF8.self) { return (name, kind) }
            let own = kind == DT_UNKNOWN ? Self.kind(of: bytes, in: level) : kind
            let problem = RecordingProblem(
                foreignName: bytes, in: level.path, isFolder: own == DT_DIR, of: place)
            if let problem, [DT_DIR, DT_REG].contains(own) { note(problem) }
            return (nil, kind)
        }
    }

    private static func kind(of name: some Sequence<UInt8>, in level: Level) -> Int {
        var status = stat()
        let text = name.map { CChar(truncatingIfNeeded: $0) } + [0]
        guard fstatat(dirfd(level.stream), text, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return DT_UNKNOWN }
        return kind(of: status)
    }

    /// The kind of a file as its folder has it.
    private static func kind(of status: stat) -> Int { Int((status.st_mode & S_IFMT) >> 12) }

    fileprivate static func escaped(_ name: some Sequence<UInt8>) -> String {
        name.map { byte in
            (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\\")
                ? String(UnicodeScalar(byte)) : "\\x" + String(256 + Int(byte), radix: 16).dropFirst()
        }.joined()
    }

    private func readName(_ level: Level, _ found: (RecordingFile) -> Void) -> Int {
        guard let (name, entryKind) = next(level) else {
            // The last is taken first.
            level.prune()
            level.folders.sort()
            level.phase = .newest
            return 1
        }
        guard let name else { return 1 }
        if name.hasPrefix(".") {
            if level.path.isEmpty, name.hasSuffix(JournalNames.suffix) { readJournal(name, found) }
            return 1
        }
        var kind = entryKind
        if kind == DT_UNKNOWN {
            var status = stat()
            guard fstatat(dirfd(level.stream), name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return 1 }
            kind = Self.kind(of: status)
        }
        if kind == DT_DIR, level.path.count < place.depth {
            level.folders.append(name)
        } else if kind == DT_REG, place.covers(Self.text(level.path, name)) {
            level.fileCount += 1
            level.names.append(name)
            if level.names.count == 2 * Self.firstFiles { level.prune() }
        }
        return 1
    }

    private func readJournal(_ name: String, _ found: (RecordingFile) -> Void) {
        let names = JournalNames.newest(in: folder.descriptor, journal: name, most: Self.firstFiles)
        for name in names where place.covers(name) {
            let path = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard !path.contains(where: { $0.isEmpty || $0.hasPrefix(".") }), path.count <= place.depth + 1,
                let status = try? folder.status(of: path), status.st_mode & S_IFMT == S_IFREG
            else { continue }
            found(RecordingFile(path: path, status))
        }
    }

    private func take(_ name: String, _ level: Level, _ found: (RecordingFile) -> Void) {
        var status = stat()
        guard fstatat(dirfd(level.stream), name, &status, AT_SYMLINK_NOFOLLOW) == 0,
            status.st_mode & S_IFMT == S_IFREG
        else { return }
        found(RecordingFile(path: level.path + [name], status))
    }

    fileprivate static func text(_ path: [String], _ name: String) -> String {
        path.isEmpty ? name : path.joined(separator: "/") + "/" + name
    }

    private func note(_ name: String, _ reason: String) {
        note(RecordingProblem(name: name, reason: reason))
    }

    private func note(_ problem: RecordingProblem) {
        if problems.count < Self.mostProblems, !problems.contains(problem) { problems.append(problem) }
    }
}

// MARK: Names that are not UTF-8

extension RecordingProblem {
    /// The problem with a name that is not UTF-8: neither the page nor an address can contain it. Nil if nothing of that
    /// name would be listed anyway.
    init?(
        foreignName name: some Collection<UInt8>, in path: [String], isFolder: Bool, of place: RecordingsPlace
    ) {
        let text = FolderWalk.text(path, FolderWalk.escaped(name))
        guard name.first != UInt8(ascii: "."), isFolder ? path.count < place.depth : place.covers(text) else {
            return nil
        }
        self.init(name: text, reason: "its name is not UTF-8; rename it")
    }

    /// The name in problems of an entry whose name is not UTF-8.
    static func text(ofForeignName name: [UInt8], in path: [String]) -> String {
        FolderWalk.text(path, FolderWalk.escaped(name))
    }
}
