import Glibc

/// Folders by their paths.
public enum Folder {
    /// The names in it, in no particular order; empty if the folder cannot be read.
    public static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    /// Whether a path, or what it links to, is a folder.
    public static func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The folder that contains a file, by its path.
    public static func of(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The path from the root, without links and dots if the folder exists. Nil for a relative path if the
    /// working folder is gone, or no longer mounted.
    public static func absolute(_ path: String) -> String? {
        if let real = realpath(path, nil) {
            defer { free(real) }
            return String(cString: real)
        }
        if path.hasPrefix("/") { return path }
        return path == "." ? nil : absolute(".").map { $0 + "/" + path }
    }

    /// Creates a folder and its missing parents. Other users' links are not followed.
    public static func make(_ path: String) throws(FileLocation.Failure) {
        _ = try FileLocation(path + "/", makesFolders: true)
    }
}
