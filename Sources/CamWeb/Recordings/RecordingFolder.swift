import Bitstream
import CamPlatform
import Glibc
import CamStorage

/// A folder of recordings that is open: everything in it is reached from there, and never through a link.
final class RecordingFolder: Sendable {
    let descriptor: Int32

    /// What a folder of recordings may have at most; what is beyond is left out.
    private static let (mostEntries, mostFiles) = (50_000, 10_000)

    /// Opens a folder; nil, with errno, if that fails.
    init?(path: String) {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether it was removed: another one may have its name now.
    var isGone: Bool {
        var status = stat()
        return fstat(descriptor, &status) != 0 || status.st_nlink == 0
    }

    /// What is in the folder.
    struct Content {
        /// In no particular order.
        var files: [RecordingFile] = []
        /// Folders and files that could not be looked at, and why.
        var problems: [RecordingProblem] = []
        /// Whether there is more than is looked at.
        var isTooMuch = false
        fileprivate var entryCount = 0
    }

    /// Lists the regular files that belong to a place.
    func content(of place: RecordingsPlace) -> Content {
        var content = Content()
        // A folder that is open has a position, which others must not share.
        let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        read(own, at: [], place, &content)
        return content
    }

    /// - Parameter folder: is closed here; negative, with errno, if it could not be opened.
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

/// Where a camera's recordings are.
public struct RecordingsPlace: Hashable, Sendable {
    /// The folder that all of them are beneath.
    let folder: String
    /// The `strftime` pattern of their names from there; nil for all that have a recording's extension.
    let pattern: String?
    /// Whether each of them is an event (`--ring`).
    let areEvents: Bool

    /// The recordings in a folder and its folders, whatever their names.
    public init(folder: String) { (self.folder, pattern, areEvents) = (folder, nil, false) }

    /// The recordings of a recorder's settings; nil if it writes no files that can be played.
    /// - Parameter stateFolder: what relative paths begin at.
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

    /// How many folders a recording may be beneath.
    var depth: Int { pattern.map { $0.count { $0 == "/" } } ?? Self.usualDepth }

    private static let usualDepth = 4

    /// Whether a file is one of the recordings.
    /// - Parameter path: from the folder.
    func covers(_ path: String) -> Bool {
        guard Self.isRecording(path) else { return false }
        return pattern.map { FileNamePattern($0, expandsTime: true).covers(path) } ?? true
    }

    /// Whether a name is a recording's, rather than a server's address or standard output.
    private static func isRecording(_ path: String) -> Bool {
        !path.contains("://") && (ContainerFormat(path: path) != nil || Codec(fileName: path) != nil)
    }
}

// MARK: Files

/// A file in a folder of recordings, as it was when the folder was read.
struct RecordingFile: Hashable, Sendable {
    /// Its name from the folder, folder by folder.
    let path: [String]
    let identity: FileIdentity
    /// Bytes.
    let size: Int
    /// When it was last written.
    let modification: WallTime

    /// Its name from the folder, as people write it.
    var name: String { path.joined(separator: "/") }

    init(path: [String], _ status: stat) {
        (self.path, identity, size) = (path, FileIdentity(status), Int(status.st_size))
        // A file may claim any year.
        modification = WallTime(seconds: status.st_mtim.tv_sec) + .nanoseconds(status.st_mtim.tv_nsec)
    }
}

extension RecordingFile {
    /// Opens the file; nil, with errno, if it is gone or cannot be read.
    /// - Parameter folder: the open folder that it was listed in.
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
        // Without O_NONBLOCK, opening a pipe that has taken the name would block.
        let descriptor = openat(parent, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let file = OpenRecording(descriptor)
        // An inode may be used again, even for a pipe or a device.
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

/// A recording that is open for reading. The file is the one that was listed, whatever has its name now.
final class OpenRecording: Sendable {
    let descriptor: Int32

    /// - Parameter descriptor: is closed with this.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Bytes.
    var size: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Whether a recorder writes it at the moment.
    var isGrowing: Bool { WriteLock.isHeld(descriptor) }

    /// When the file was created; nil if the file system does not say.
    var birth: WallTime? { FileFacts(descriptor: descriptor)?.birth }
}
