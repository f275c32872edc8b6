import CamPlatform
import Glibc
import Containers

/// The file of a journal: lines after a header.
///
/// A lock (flock(2)), if the file system supports locks, lets one process at a time use the file, and only
/// its owner can open it. In a folder that others can write to, another user's file in its place is not read.
final class JournalFile {
    private let path: String
    /// The pattern of the segments, for messages.
    private let owner: String
    private var descriptor: Int32
    private let calls: FileCalls
    /// The errno of locking the file, which not every file system supports; nil if the file is locked.
    private(set) var lockFailure: Int32?
    /// Whether the file ends in the middle of a line.
    private var isCutOff = false

    private static let header = "# camrec segments 1"
    private static let mode: mode_t = 0o600
    /// A larger file is not read: no recording keeps a million segments.
    private static let largestSize: off_t = 256 << 20

    /// Opens the file or creates it.
    /// - Parameter owner: the pattern of the segments, for messages.
    init(path: String, owner: String, calls: FileCalls = FileCalls()) throws(OutputError) {
        (self.path, self.owner, self.calls) = (path, owner, calls)
        (descriptor, lockFailure) = try Self.open(path, owner: owner, calls)
    }

    deinit { close(descriptor) }

    /// Whether the path still leads to the open file: the folder may have been
    /// removed, or another disk mounted.
    var isInPlace: Bool {
        guard let identity = FileIdentity(descriptor: descriptor) else { return false }
        return identity == (try? FileLocation(path))?.status.map(FileIdentity.init)
    }

    /// Switches to the file that the path leads to now.
    func reopen() throws(OutputError) {
        let opened = try Self.open(path, owner: owner, calls)
        close(descriptor)
        (descriptor, lockFailure) = opened
    }

    /// The lines after the header, without a last line that was cut off.
    func lines() -> [String] {
        let (lines, isCutOff) = Self.lines(of: Self.content(of: descriptor))
        self.isCutOff = isCutOff
        return lines
    }

    /// The lines of a journal that a recorder may be using.
    static func lines(path: String) throws(OutputError) -> [String] {
        let descriptor = try location(path).open(O_RDONLY | O_NONBLOCK)
        guard descriptor >= 0 else { throw OutputError(.notRead(errno: -descriptor), output: path) }
        defer { close(descriptor) }
        let content = content(of: descriptor)
        guard content.isEmpty || content.starts(with: header.utf8) else {
            throw OutputError(.noJournal, output: path)
        }
        return lines(of: content).lines
    }

    private static func lines(of content: [UInt8]) -> (lines: [String], isCutOff: Bool) {
        var lines = content.split(separator: UInt8(ascii: "\n"))
        let isCutOff = content.last.map { $0 != UInt8(ascii: "\n") } ?? false
        if isCutOff { lines.removeLast() }
        return (lines.map { String(decoding: $0, as: UTF8.self) }.filter { $0 != header }, isCutOff)
    }

    /// Appends a line, which ends with a line feed, and returns when it is on the disk.
    func append(_ line: String) throws(OutputError) {
        let end = lseek(descriptor, 0, SEEK_END)
        let code = store((isCutOff ? "\n" : "") + line, in: descriptor)
        guard code == 0 else {
            _ = ftruncate(descriptor, end)
            throw OutputError(writeFailed: code, output: path)
        }
        isCutOff = false
    }

    /// Replaces the file with one that contains only these lines.
    func replace(by lines: [String]) throws(OutputError) {
        let location = try Self.location(path)
        let temporary: [CChar] = location.name.dropLast() + Array(".new".utf8CString)
        unlinkat(location.folder, temporary, 0)
        let opened = openat(
            location.folder, temporary, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
            Self.mode)
        guard opened >= 0 else { throw OutputError(.notCreated(errno: errno), output: path + ".new") }
        keepOwner(of: opened)
        let text = Self.header + "\n" + lines.joined()
        // No other process can have locked a file that was just created.
        let lockFailure = Self.lock(opened, calls)
        var code = store(text, in: opened)
        if code == 0, renameat(location.folder, temporary, location.folder, location.name) != 0 {
            code = errno
        }
        guard code == 0 else {
            unlinkat(location.folder, temporary, 0)
            close(opened)
            throw OutputError(.notCreated(errno: code), output: path)
        }
        close(descriptor)
        (descriptor, self.lockFailure, isCutOff) = (opened, lockFailure, false)
    }

    private static func location(_ path: String) throws(OutputError) -> FileLocation {
        do throws(FileLocation.Failure) { return try FileLocation(path) } catch {
            throw OutputError(error, output: path)
        }
    }

    /// Takes the lock.
    /// - Returns: errno; nil if the lock was taken.
    private static func lock(_ descriptor: Int32, _ calls: FileCalls) -> Int32? {
        let code = calls.lock(descriptor)
        return code == 0 ? nil : code
    }

    /// Opens the file and takes its lock.
    private static func open(
        _ path: String, owner: String, _ calls: FileCalls
    ) throws(OutputError) -> (descriptor: Int32, lockFailure: Int32?) {
        while true {
            let location = try location(path)
            let opened = location.open(O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK, mode: mode)
            guard opened >= 0 else { throw OutputError(.notCreated(errno: -opened), output: path) }
            let lockFailure: Int32?
            do throws(OutputError) {
                try examine(opened, in: location, path: path)
                lockFailure = lock(opened, calls)
                if lockFailure == EWOULDBLOCK { throw OutputError(.journalInUse, output: owner) }
            } catch {
                close(opened)
                throw error
            }
            // A user who can open the file can lock it and block recorders. Earlier versions let everyone open it.
            fchmod(opened, mode)
            // The previous holder of the lock may have replaced the journal in the meantime.
            if FileIdentity(descriptor: opened) == location.status.map(FileIdentity.init) {
                return (opened, lockFailure)
            }
            close(opened)
        }
    }

    /// Checks that the file is a journal, or new, before anything in it is changed: its name may be a link to another
    /// user's file.
    private static func examine(
        _ opened: Int32, in location: FileLocation, path: String
    ) throws(OutputError) {
        var status = stat()
        guard fstat(opened, &status) == 0, location.isTrusted(status) else {
            throw OutputError(.untrustedJournal, output: path)
        }
        var start = [UInt8](repeating: 0, count: header.utf8.count)
        let count = pread(opened, &start, start.count, 0)
        let isNew = status.st_size == 0 && status.st_nlink <= 1
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= largestSize,
            isNew || count == start.count && start.elementsEqual(header.utf8)
        else { throw OutputError(.noJournal, output: path) }
    }

    private static func content(of descriptor: Int32) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(min(status.st_size, largestSize))) {
            buffer, count in
            while count < buffer.count {
                let result = pread(
                    descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count, off_t(count))
                if result <= 0 { break }
                count += result
            }
        }
    }

    /// Keeps the owner of another user's journal when root rewrites it.
    private func keepOwner(of opened: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid != geteuid() else { return }
        _ = fchown(opened, status.st_uid, status.st_gid)
    }

    /// Writes a text, and flushes it to the disk.
    /// - Returns: 0, or errno.
    private func store(_ text: String, in descriptor: Int32) -> Int32 {
        let code = Array(text.utf8).withUnsafeBytes { bytes -> Int32 in
            var rest = UnsafeRawBufferPointer(rebasing: bytes[...])
            while !rest.isEmpty {
                let written = write(descriptor, rest.baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return written == 0 ? EIO : errno }
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
            return 0
        }
        guard code == 0 else { return code }
        return fdatasync(descriptor) == 0 ? 0 : errno
    }
}

// MARK: - Reading only

/// The names of the segments in a recorder's journal, for programs that list recordings.
package enum JournalNames {
    /// The suffix of journals' names.
    package static var suffix: String { SegmentJournal.suffix }

    /// Bytes of the journal's end that are read.
    private static let length = 1 << 20

    /// Returns the paths of the newest segments within the journal's folder, newest first. The journal is not locked, so
    /// that its recorder never waits; what it says may be wrong. Without permission to read it there are none.
    /// - Parameter folder: the open folder of the journal.
    package static func newest(in folder: Int32, journal name: String, most: Int) -> [String] {
        let descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return [] }
        let start = max(0, Int(status.st_size) - length)
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, length, off_t(start)))
        }
        var (names, known): ([String], Set<String>) = ([], [])
        // The first line may lack its beginning, and the last one its end: neither is an entry then.
        for line in bytes.split(separator: UInt8(ascii: "\n")).reversed() where names.count < most {
            guard let entry = SegmentJournal.Entry(line: String(decoding: line, as: UTF8.self)),
                let name = entry.files.first?.name, known.insert(name).inserted
            else { continue }
            names.append(name)
        }
        return names
    }
}

// MARK: - Lines

/// The format of the journal's lines.
extension SegmentJournal.Entry {
    /// The first field of a segment that is kept.
    private static let keptMark = "keep"

    /// Nil for lines that do not describe segments: the header, and a line that was cut off.
    init?(line: String) {
        var fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        if fields[0] == Self.keptMark {
            isKept = true
            fields.removeFirst()
        }
        guard [3, 5, 6].contains(fields.count), !fields[2].isEmpty,
            let file = SegmentJournal.File(name: fields[2], mark: fields[0]),
            fields[1] == "-" || Int(fields[1]).map({ $0 >= 0 }) == true
        else { return nil }
        size = Int(fields[1])
        files = [file]
        guard fields.count > 3 else { return }
        guard !fields[4].isEmpty, var timestamps = SegmentJournal.File(name: fields[4], mark: fields[3])
        else {
            return nil
        }
        if fields.count == 6 { timestamps.folder = fields[5].unescaped }
        files.append(timestamps)
    }

    /// The entry as a line of the journal.
    var line: String {
        var line = isKept ? "\(Self.keptMark)\t" : ""
        line += "\(files[0].markField)\t\(size.map(String.init) ?? "-")\t\(files[0].name.escaped)"
        for file in files.dropFirst() {
            line += "\t\(file.markField)\t\(file.name.escaped)"
            if let folder = file.folder { line += "\t\(folder.escaped)" }
        }
        return line + "\n"
    }
}

/// An unknown mark is 0.
extension SegmentJournal.File {
    fileprivate init?(name: String, mark: String) {
        self.init(name: name.unescaped, mark: nil, folder: nil)
        if let birth = Int64(mark) {
            if birth > 0 { self.mark = .birth(WallTime(nanoseconds: birth)) }
            return
        }
        let parts = mark.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let inode = UInt64(parts[0]) else { return nil }
        let modification = Int64(parts[1])
        guard modification != nil || parts[1].isEmpty else { return nil }
        self.mark = .inode(inode, modification: modification.map(WallTime.init(nanoseconds:)))
    }

    fileprivate var markField: String {
        switch mark {
        case .birth(let birth)?: String(birth.nanoseconds)
        case .inode(let number, let modification)?:
            "\(number)@" + (modification.map { String($0.nanoseconds) } ?? "")
        case nil: "0"
        }
    }
}

extension String {
    /// The text with escapes for the characters that end a field or a line.
    fileprivate var escaped: String {
        var text = ""
        for character in unicodeScalars {
            switch character {
            case "\\": text += "\\\\"
            case "\t": text += "\\t"
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }

    fileprivate var unescaped: String {
        var (text, isEscaped) = ("", false)
        for character in unicodeScalars {
            if isEscaped {
                text.unicodeScalars.append(character == "t" ? "\t" : character == "n" ? "\n" : character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
