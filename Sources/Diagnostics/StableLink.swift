import Glibc

/// udev's links to a camera, which stay the same when /dev/videoN is numbered anew.
enum StableLink {
    /// The link in /dev/v4l/by-id that leads to `path`.
    static func find(for path: String) -> String? {
        let folder = "/dev/v4l/by-id"
        var wanted = stat()
        guard stat(path, &wanted) == 0, let entries = opendir(folder) else { return nil }
        defer { closedir(entries) }
        var links: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            var status = stat()
            let link = "\(folder)/\(name)"
            if stat(link, &status) == 0, status.st_mode & S_IFMT == S_IFCHR, status.st_rdev == wanted.st_rdev
            {
                links.append(link)
            }
        }
        return links.min()
    }
}
