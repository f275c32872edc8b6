import Bitstream
import CamControlProtocol
import CamPlatform
import Glibc
import CamStorage
import Containers

/// An open folder of recordings. Files are reached from its descriptor, never through a link.
final class RecordingFolder: Sendable {
    let descriptor: Int32
    private let path: String

    /// Opens a folder.
    init(path: String) throws(FileLocation.Failure) {
        self.path = path
        descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileLocation.Failure(errno: errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether the folder was removed, or another one has its path now.
    var isGone: Bool {
        let identity = FileIdentity(descriptor: descriptor)
        return identity == nil || identity != FileIdentity(path: path)
    }

    /// Opens an entry of the folder or of one below it.
    /// - Parameter path: the path within the folder; empty for the folder itself.
    /// - Returns: a descriptor.
    func open(_ path: [String], _ flags: Int32) throws(FileLocation.Failure) -> Int32 {
        try call(at: path.isEmpty ? ["."] : path) { openat($0, $1, flags | O_NOFOLLOW | O_CLOEXEC) }
    }

    /// The status of an entry of the folder or of one below it.
    func status(of path: [String]) throws(FileLocation.Failure) -> stat {
        var status = stat()
        _ = try call(at: path) { fstatat($0, $1, &status, AT_SYMLINK_NOFOLLOW) }
        return status
    }

    /// The status of an entry whose name may be any bytes, in the folder or one below it.
    func status(of name: [UInt8], in path: [String]) throws(FileLocation.Failure) -> stat {
        let parent = try open(path, O_RDONLY | O_DIRECTORY)
        defer { close(parent) }
        var status = stat()
        let text = name.map { CChar(truncatingIfNeeded: $0) } + [0]
        guard fstatat(parent, text, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw FileLocation.Failure(errno: errno)
        }
        return status
    }

    /// Makes a system call with the folder and the name of an entry, without following links.
    private func call(
        at path: [String], _ body: (Int32, String) -> Int32
    ) throws(FileLocation.Failure) -> Int32 {
        guard let last = path.last else { throw FileLocation.Failure(errno: ENOENT) }
        var parent = descriptor
        defer { if parent != descriptor { close(parent) } }
        for part in path.dropLast() {
            let next = openat(parent, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else { throw FileLocation.Failure(errno: errno) }
            if parent != descriptor { close(parent) }
            parent = next
        }
        let result = body(parent, last)
        guard result >= 0 else { throw FileLocation.Failure(errno: errno) }
        return result
    }
}

// MARK: Which files are recordings

/// The folder with the recordings of a camera, and the names that recordings have.
package struct RecordingsPlace: Hashable, Sendable {
    /// The folder; recordings may be in folders below it.
    let folder: String
    /// The `strftime` pattern of paths within the folder; nil for all files with the extension of a
    /// recording.
    let pattern: String?
    /// Whether each recording is an event (`--ring`).
    var areEvents: Bool

    /// Whether the recordings of another place are the same files.
    func hasSameFiles(as other: RecordingsPlace) -> Bool {
        (folder, pattern) == (other.folder, other.pattern)
    }

    /// All recordings in a folder and the folders below it.
    package init(folder: String) { (self.folder, pattern, areEvents) = (folder, nil, false) }

    /// The recordings of a recorder, from its settings; nil if it writes no files that can be played.
    /// - Parameter stateFolder: the folder at which relative paths begin.
    init?(_ settings: SettingsFile, stateFolder: String) {
        let values = settings.entries.filter { $0.key == "output" }.map(\.value)
        // Recordings of the whole pictures come before smaller ones.
        let outputs = values + values.map { OutputText($0).name }
        guard let output = outputs.first(where: Self.isRecording) else { return nil }
        let path = output.hasPrefix("./") ? String(output.dropFirst(2)) : output
        let fixed = FileNamePattern(path, expandsTime: true).folder
        switch fixed {
        case ".": (folder, pattern) = (stateFolder, path)
        case "/": (folder, pattern) = ("/", String(path.dropFirst()))
        default:
            folder = fixed.hasPrefix("/") ? fixed : "\(stateFolder)/\(fixed)"
            pattern = String(path.dropFirst(fixed.count + 1))
        }
        areEvents = settings.entries.contains { $0.key == "ring" }
    }

    /// The most folders between a recording and the folder.
    var depth: Int { pattern.map { $0.count { $0 == "/" } } ?? Self.usualDepth }

    private static let usualDepth = 4

    /// Whether a file is a recording.
    /// - Parameter path: the path within the folder.
    func covers(_ path: String) -> Bool {
        guard Self.isRecording(path) else { return false }
        return pattern.map { FileNamePattern($0, expandsTime: true).covers(path) } ?? true
    }

    /// Whether an output is a recording, not the address of a server or standard output.
    private static func isRecording(_ path: String) -> Bool {
        !path.contains("://") && (ContainerFormat(path: path) != nil || Codec(fileName: path) != nil)
    }
}

// MARK: Files

/// The state of a recording when its folder was read.
struct RecordingFile: Hashable, Sendable {
    /// The path within the folder of recordings, by component.
    let path: [String]
    let identity: FileIdentity
    /// Bytes.
    let size: Int
    /// The time of the last write.
    let modification: WallTime

    /// The path within the folder of recordings.
    var name: String { path.joined(separator: "/") }

    init(path: [String], identity: FileIdentity, size: Int, modification: WallTime) {
        (self.path, self.identity, self.size, self.modification) = (path, identity, size, modification)
    }

    init(path: [String], _ status: stat) {
        // A file may have a time of any year.
        self.init(
            path: path, identity: FileIdentity(status), size: Int(status.st_size),
            modification: WallTime(seconds: status.st_mtim.tv_sec) + .nanoseconds(status.st_mtim.tv_nsec))
    }

    /// Opens the file.
    /// - Throws: ENOENT if the file is gone, or another one has its name.
    func open(in folder: RecordingFolder) throws(FileLocation.Failure) -> OpenRecording {
        // Without O_NONBLOCK, opening a pipe that now has the name would block.
        let file = OpenRecording(try folder.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY))
        // The inode may have a new use, even as a pipe or a device.
        var status = stat()
        guard fstat(file.descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            FileIdentity(status) == identity
        else { throw FileLocation.Failure(errno: ENOENT) }
        return file
    }
}

// MARK: Open files

/// A recording open for reading. It is the listed file even if another file has its name now.
final class OpenRecording: Sendable {
    let descriptor: Int32

    /// - Parameter descriptor: closed with the object.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Bytes.
    var size: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// The bytes outside of holes; all of them if the file system does not say.
    var dataSize: Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return 0 }
        let size = Int(status.st_size)
        guard Int(status.st_blocks) < size / Self.blockSize else { return size }
        var (total, position) = (0, 0)
        for _ in 0..<Self.mostExtents {
            let begin = lseek(descriptor, position, Self.seekData)
            // Only a hole is left.
            if begin < 0 { return errno == ENXIO ? total : size }
            let end = lseek(descriptor, begin, Self.seekHole)
            guard end > begin else { return size }
            total += end - begin
            position = end
        }
        return size
    }

    /// The unit of `st_blocks` (stat(2)).
    private static let blockSize = 512
    /// More pieces than a recording has.
    private static let mostExtents = 10_000
    /// SEEK_DATA and SEEK_HOLE (lseek(2)), which Glibc declares only for GNU programs.
    private static let (seekData, seekHole): (Int32, Int32) = (3, 4)

    /// Whether a recorder is writing the file.
    var isGrowing: Bool { WriteLock.isHeld(descriptor) }

    /// The creation time of the file; nil if the file system has none.
    var birth: WallTime? { FileFacts(descriptor: descriptor)?.birth }
}
