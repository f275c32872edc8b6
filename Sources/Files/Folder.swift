import Glibc

/// Folders by their paths.
public enum Folder {
    /// The names in it, in no particular order; empty where the folder cannot be read.
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

    /// The folder that a file's path puts it into.
    public static func of(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes a folder and those that it is in, where they are missing.
    /// - Returns: 0, or errno.
    public static func make(_ path: String) -> Int32 {
        var code = makeOne(path)
        guard code == ENOENT, path != of(path) else { return code }
        code = make(of(path))
        return code == 0 ? makeOne(path) : code
    }

    private static func makeOne(_ path: String) -> Int32 {
        if mkdir(path, 0o755) == 0 { return 0 }
        guard errno == EEXIST else { return errno }
        var status = stat()
        guard stat(path, &status) == 0 else { return errno }
        return status.st_mode & S_IFMT == S_IFDIR ? 0 : ENOTDIR
    }
}
