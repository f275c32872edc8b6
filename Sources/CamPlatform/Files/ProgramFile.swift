import Glibc

/// The file that a running program was started from, which a newer version may replace meanwhile.
public struct ProgramFile: Sendable {
    private let path: String
    private let identity: FileIdentity

    /// - Parameter link: leads to the program's file, and is read only now. Nil if it leads nowhere.
    public init?(link: String = "/proc/self/exe") {
        guard let identity = FileIdentity(path: link), let path = Self.path(of: link) else { return nil }
        (self.path, self.identity) = (path, identity)
    }

    /// Of a file that was replaced before its link is read, the kernel gives the path it had, and a remark (proc(5)).
    private static func path(of link: String) -> String? {
        if let path = realpath(link, nil) {
            defer { free(path) }
            return String(cString: path)
        }
        let target = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            let count = buffer.baseAddress.map { readlink(link, $0, buffer.count) } ?? -1
            return String(
                decoding: buffer.prefix(max(0, count)).map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self)
        }
        let remark = " (deleted)"
        return target.hasSuffix(remark) ? String(target.dropLast(remark.count)) : nil
    }

    /// Whether its path leads to another file by now. A file that was only removed is not replaced.
    public var isReplaced: Bool {
        FileIdentity(path: path).map { $0 != identity } ?? false
    }
}
