import CamPlatform
import Glibc

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
