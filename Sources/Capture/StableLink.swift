import CamPlatform
import Glibc

/// udev's links to a camera, which stay the same when /dev/videoN is renumbered.
public enum StableLink {
    /// The folder of the distribution's links.
    public static let commonFolder = "/dev/v4l/by-id"
    /// The folder of the links that camrec's own rules make.
    public static let ownFolder = "/dev/camrec"

    /// Returns the link in a folder that leads to `path`.
    public static func find(for path: String, in folder: String = commonFolder) -> String? {
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
