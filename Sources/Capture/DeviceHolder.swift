import Files
import Glibc

/// Finds out which program has a device open, from what /proc shows this user.
public enum DeviceHolder {
    /// `cheese (pid 4711)`; nil where no other program is seen to have it.
    public static func find(of path: String) -> String? {
        var wanted = stat()
        guard stat(path, &wanted) == 0 else { return nil }
        let processes = Folder.names(in: "/proc").compactMap { Int32($0) }
        let holder = processes.first { $0 != getpid() && holds($0, wanted.st_rdev) }
        return holder.map { "\(command(of: $0)) (pid \($0))" }
    }

    private static func holds(_ process: Int32, _ device: dev_t) -> Bool {
        let folder = "/proc/\(process)/fd"
        return Folder.names(in: folder).contains { name in
            var status = stat()
            return stat("\(folder)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
                && status.st_rdev == device
        }
    }

    private static func command(of process: Int32) -> String {
        guard let file = fopen("/proc/\(process)/comm", "re") else { return "a program" }
        defer { fclose(file) }
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            let count = fread(buffer.baseAddress, 1, buffer.count, file)
            let text = String(decoding: buffer.prefix(count).prefix { $0 != 0x0a }, as: UTF8.self)
            return text.isEmpty ? "a program" : text
        }
    }
}
