import Glibc

/// What the file system says about a device node.
public enum DeviceNode {
    /// The group that owns the node, if that group may read and write it: the one to join. Nil otherwise.
    public static func owningGroup(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o060 == 0o060 else { return nil }
        var entry = group()
        var result: UnsafeMutablePointer<group>?
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer -> String? in
            let bytes = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            guard getgrgid_r(status.st_gid, &entry, bytes, buffer.count, &result) == 0, result != nil else {
                return nil
            }
            return String(cString: entry.gr_name)
        }
    }

    /// Whether `path` names a character device; nil if nothing is there.
    public static func isCharacterDevice(_ path: String) -> Bool? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFCHR
    }
}
