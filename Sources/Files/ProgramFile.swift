import Glibc

/// The file that a running program was started from, which a newer version may replace meanwhile.
public struct ProgramFile: Sendable {
    private let path: String
    private let identity: FileIdentity

    /// - Parameter link: leads to the program's file, and is read only now. Nil if it leads nowhere.
    public init?(link: String = "/proc/self/exe") {
        guard let identity = FileIdentity(path: link), let path = realpath(link, nil) else { return nil }
        defer { free(path) }
        self.path = String(cString: path)
        self.identity = identity
    }

    /// Whether its path leads to another file by now. A file that was only removed is not replaced.
    public var isReplaced: Bool {
        FileIdentity(path: path).map { $0 != identity } ?? false
    }
}
