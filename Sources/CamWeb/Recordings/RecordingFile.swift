import CamPlatform
import Glibc

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
