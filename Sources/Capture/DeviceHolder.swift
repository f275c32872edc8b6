import CamPlatform
import Glibc

/// Finds the program that has a device open, from what /proc shows this user.
public enum DeviceHolder {
    /// Returns `cheese (pid 4711)`: the program that holds the node's lock, or else has it open; nil if no
    /// other program is visible.
    public static func find(of path: String) -> String? {
        var node = stat()
        guard stat(path, &node) == 0 else { return nil }
        let holder = lockHolder(of: node) ?? opener(of: node)
        return holder.map { "\(command(of: $0)) (pid \($0))" }
    }

    private static func lockHolder(of node: stat) -> Int32? {
        guard let file = fopen("/proc/locks", "re") else { return nil }
        defer { fclose(file) }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            while let line = fgets(buffer.baseAddress, Int32(buffer.count), file) {
                if let holder = lockHolder(of: node, in: String(cString: line)), holder != getpid() {
                    return holder
                }
            }
            return nil
        }
    }

    /// Returns who holds a lock, from a line of /proc/locks (proc(5)): `3: FLOCK  ADVISORY  WRITE 4711
    /// 00:05:326 0 EOF`, with the file system's number and the inode's.
    static func lockHolder(of node: stat, in line: String) -> Int32? {
        let fields = line.split(whereSeparator: \.isWhitespace)
        guard fields.count >= 6, fields[1] == "FLOCK", let holder = Int32(fields[4]), holder > 0 else {
            return nil
        }
        let place = fields[5].split(separator: ":")
        guard place.count == 3, let major = UInt32(place[0], radix: 16),
            let minor = UInt32(place[1], radix: 16), let inode = UInt64(place[2]),
            fileSystem(major, minor) == node.st_dev, inode == node.st_ino
        else { return nil }
        return holder
    }

    /// glibc's `makedev`, which is a macro.
    private static func fileSystem(_ major: UInt32, _ minor: UInt32) -> dev_t {
        let (major, minor) = (UInt64(major), UInt64(minor))
        let low = (major & 0xfff) << 8 | minor & 0xff
        let high = (major & ~0xfff) << 32 | (minor & ~0xff) << 12
        return dev_t(high | low)
    }

    private static func opener(of node: stat) -> Int32? {
        let processes = Folder.names(in: "/proc").compactMap { Int32($0) }
        return processes.first { $0 != getpid() && holds($0, node.st_rdev) }
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
