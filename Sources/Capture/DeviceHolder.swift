import Glibc

/// Finds out which program has a device open, from what /proc shows this user.
enum DeviceHolder {
    /// `cheese (pid 4711)`; nil where no other program is seen to have it.
    static func find(of path: String) -> String? {
        var wanted = stat()
        guard stat(path, &wanted) == 0, let processes = opendir("/proc") else { return nil }
        defer { closedir(processes) }
        while let entry = readdir(processes) {
            guard let pid = Int32(name(of: entry)), pid != getpid(), holds(pid, wanted.st_rdev) else {
                continue
            }
            return "\(command(of: pid)) (pid \(pid))"
        }
        return nil
    }

    private static func holds(_ pid: Int32, _ device: dev_t) -> Bool {
        let path = "/proc/\(pid)/fd"
        guard let folder = opendir(path) else { return false }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            var status = stat()
            if stat("\(path)/\(name(of: entry))", &status) == 0, status.st_mode & S_IFMT == S_IFCHR,
                status.st_rdev == device
            {
                return true
            }
        }
        return false
    }

    private static func command(of pid: Int32) -> String {
        guard let file = fopen("/proc/\(pid)/comm", "re") else { return "a program" }
        defer { fclose(file) }
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            let count = fread(buffer.baseAddress, 1, buffer.count, file)
            let text = String(decoding: buffer.prefix(count).prefix { $0 != 0x0a }, as: UTF8.self)
            return text.isEmpty ? "a program" : text
        }
    }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
        withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
