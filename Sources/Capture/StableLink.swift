import Files
import Glibc

/// udev's links to a camera, which stay the same when /dev/videoN is numbered anew.
public enum StableLink {
    /// The link in /dev/v4l/by-id that leads to `path`.
    public static func find(for path: String) -> String? {
        let folder = "/dev/v4l/by-id"
        var wanted = stat()
        guard stat(path, &wanted) == 0 else { return nil }
        let links = Folder.names(in: folder).map { "\(folder)/\($0)" }.filter { link in
            var status = stat()
            return stat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
                && status.st_rdev == wanted.st_rdev
        }
        return links.min()
    }
}
