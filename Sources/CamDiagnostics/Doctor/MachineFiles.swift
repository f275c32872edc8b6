import CamPlatform
import Glibc

/// The files in which the kernel and the distribution describe the machine, below a root that only tests
/// change.
struct MachineFiles {
    /// Without a trailing slash.
    var root = ""

    private static let mostBytes = 16 << 10

    func exists(_ path: String) -> Bool { access(root + path, F_OK) == 0 }

    /// In alphabetical order; empty if the folder cannot be read.
    func names(in path: String) -> [String] {
        Folder.names(in: root + path).filter { $0 != "." && $0 != ".." }.sorted()
    }

    /// The beginning of a file, up to 16 KiB; nil if it cannot be read.
    func text(_ path: String) -> String? {
        let descriptor = open(root + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.mostBytes)
        let count = read(descriptor, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// The last component of a link's target.
    func linkedName(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(root + path, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let target = String(decoding: bytes.prefix(count).map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self)
        return target.split(separator: "/").last.map(String.init)
    }
}
