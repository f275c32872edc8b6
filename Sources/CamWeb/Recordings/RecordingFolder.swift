import Bitstream
import CamPlatform
import Glibc
import CamStorage

/// An open folder of recordings. Files are reached from its descriptor, never through a link.
final class RecordingFolder: Sendable {
    let descriptor: Int32

    /// The most entries and files of a folder; further ones are left out.
    private static let (mostEntries, mostFiles) = (50_000, 10_000)

    /// Opens a folder; returns nil and sets errno if that fails.
    init?(path: String) {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether the folder was removed; another folder may have its name now.
    var isGone: Bool {
        var status = stat()
        return fstat(descriptor, &status) != 0 || status.st_nlink == 0
    }

    /// The content of a folder.
    struct Content {
        /// In no particular order.
        var files: [RecordingFile] = []
        /// Folders and files that could not be read, with the reason.
        var problems: [RecordingProblem] = []
        /// Whether entries were left out because there are too many.
        var isTooMuch = false
        fileprivate var entryCount = 0
    }

    /// Lists the regular files that are recordings of a place.
    func content(of place: RecordingsPlace) -> Content {
        var content = Content()
        // Each listing needs an open folder with a separate read position.
        let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        read(own, at: [], place, &content)
        return content
    }

    /// - Parameter folder: closed by this method; negative, with errno set, if it could not be opened.
    private func read(
        _ folder: Int32, at path: [String], _ place: RecordingsPlace, _ content: inout Content
    ) {
        guard folder >= 0, let stream = fdopendir(folder) else {
            let reason = String(cString: strerror(errno))
            if folder >= 0 { close(folder) }
            content.problems.append(RecordingProblem(name: path.joined(separator: "/"), reason: reason))
            return
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(validating: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name, !name.hasPrefix(".") else { continue }
            content.entryCount += 1
            guard content.entryCount <= Self.mostEntries, content.files.count < Self.mostFiles else {
                content.isTooMuch = true
                return
            }
            take(name, in: folder, at: path, place, &content)
        }
    }

    private func take(
        _ name: String, in folder: Int32, at path: [String], _ place: RecordingsPlace,
        _ content: inout Content
    ) {
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        let path = path + [name]
        switch status.st_mode & S_IFMT {
        case S_IFDIR where path.count <= place.depth:
            let inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            read(inner, at: path, place, &content)
        case S_IFREG:
            let file = RecordingFile(path: path, status)
            if place.covers(file.name) { content.files.append(file) }
        default: break
        }
    }
}

// MARK: Which files are recordings

/// The folder with the recordings of a camera, and the names that recordings have.
public struct RecordingsPlace: Hashable, Sendable {
    /// The folder; recordings may be in folders below it.
    let folder: String
    /// The `strftime` pattern of paths within the folder; nil for all files with the extension of a
    /// recording.
    let pattern: String?
    /// Whether each recording is an event (`--ring`).
    let areEvents: Bool

    /// All recordings in a folder and the folders below it.
    public init(folder: String) { (self.folder, pattern, areEvents) = (folder, nil, false) }

    /// The recordings of a recorder, from its settings; nil if it writes no files that can be played.
    /// - Parameter stateFolder: the folder at which relative paths begin.
    init?(_ settings: SettingsFile, stateFolder: String) {
        let outputs = settings.entries.filter { $0.key == "output" }.map(\.value)
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

    init(path: [String], _ status: stat) {
        (self.path, identity, size) = (path, FileIdentity(status), Int(status.st_size))
        // A file may have a time of any year.
        modification = WallTime(seconds: status.st_mtim.tv_sec) + .nanoseconds(status.st_mtim.tv_nsec)
    }
}

extension RecordingFile {
    /// Opens the file; returns nil and sets errno if the file is gone or cannot be read.
    /// - Parameter folder: the open folder of recordings.
    func open(in folder: Int32) -> OpenRecording? {
        var parent = folder
        defer { if parent != folder { close(parent) } }
        for part in path.dropLast() {
            let next = openat(parent, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            if parent != folder { close(parent) }
            parent = next
            guard next >= 0 else {
                parent = folder
                return nil
            }
        }
        guard let last = path.last else { return nil }
        // Without O_NONBLOCK, opening a pipe that now has the name would block.
        let descriptor = openat(parent, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let file = OpenRecording(descriptor)
        // The inode may have a new use, even as a pipe or a device.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            FileIdentity(status) == identity
        else {
            errno = ENOENT
            return nil
        }
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

    /// Whether a recorder is writing the file.
    var isGrowing: Bool { WriteLock.isHeld(descriptor) }

    /// The creation time of the file; nil if the file system has none.
    var birth: WallTime? { FileFacts(descriptor: descriptor)?.birth }
}
