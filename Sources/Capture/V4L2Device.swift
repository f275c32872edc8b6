import CV4L2
import CamPlatform
import Glibc

/// An open device node, closed by its last owner. Used by one thread only.
final class V4L2Device {
    let path: String
    private(set) var descriptor: Int32
    let calls: any V4L2Calls

    init(path: String, calls: any V4L2Calls) throws(CaptureError) {
        self.path = path
        self.calls = calls
        descriptor = calls.open(path)
        guard descriptor >= 0 else { throw Self.openError(path, code: -descriptor) }
    }

    deinit { close() }

    /// Closes the node; later calls fail.
    func close() {
        if descriptor >= 0 { calls.close(descriptor) }
        descriptor = -1
    }

    /// Makes an ioctl call. Returns at least 0, or −errno.
    func control<Argument>(_ request: UInt, _ argument: inout Argument) -> Int32 {
        withUnsafeMutableBytes(of: &argument) { bytes in
            guard let start = bytes.baseAddress else { return -EINVAL }
            return calls.control(descriptor, request, start)
        }
    }

    /// Reserves the camera for one recorder, as long as the device is open.
    ///
    /// The lock is an advisory lock on the node itself (flock(2)). Every link to the node leads to the same
    /// lock, the lock ends with its holder, even after a crash, and only users who may open the camera can
    /// take it. A lock file would instead require trust in a folder that others can write to. The kernel
    /// reports the holder in /proc/locks. V4L2's own priorities (VIDIOC_S_PRIORITY) only keep others from
    /// changing settings, and its EBUSY comes once the other program has allocated its buffers, when settings
    /// have already changed.
    func claim() throws(CaptureError) {
        guard calls.lock(descriptor) == -EWOULDBLOCK else { return }
        throw error(.busy(holder: DeviceHolder.find(of: path)))
    }

    func error(_ kind: CaptureError.Kind) -> CaptureError { CaptureError(kind, device: path) }

    /// Translates a failed call.
    func failure(_ call: String, _ result: Int32) -> CaptureError {
        switch -result {
        case ENODEV, ENXIO: error(.lost)
        case EBUSY: error(.busy(holder: DeviceHolder.find(of: path)))
        case ENOSPC where call == "VIDIOC_STREAMON": error(.noBandwidth)
        default: error(.systemCallFailed(call, errno: -result))
        }
    }

    private static func openError(_ path: String, code: Int32) -> CaptureError {
        switch code {
        case ENOENT, ENOTDIR: CaptureError(.notFound, device: path)
        case ENODEV, ENXIO: CaptureError(.notFound, device: path)
        case EACCES, EPERM:
            CaptureError(.permissionDenied(group: DeviceNode.owningGroup(of: path)), device: path)
        case EBUSY: CaptureError(.busy(holder: DeviceHolder.find(of: path)), device: path)
        case EISDIR: CaptureError(.notACaptureDevice("it is a folder"), device: path)
        default: CaptureError(.systemCallFailed("open", errno: code), device: path)
        }
    }
}

// MARK: Programs that use a device

/// Finds the program that has a device open, in the parts of /proc that this user can read.
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

    /// Returns the holder of a lock, from a line of /proc/locks (proc(5)): `3: FLOCK ADVISORY WRITE 4711
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

// MARK: System calls

/// The system calls that talk to a camera, each returning −errno if it fails. Tests replace them with a
/// scripted device.
protocol V4L2Calls: SourceClock {
    func open(_ path: String) -> Int32
    func close(_ descriptor: Int32)
    /// Takes the node's advisory lock (flock(2)), which closing it releases.
    func lock(_ descriptor: Int32) -> Int32
    func unlock(_ descriptor: Int32)
    func control(_ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer) -> Int32
    func map(_ descriptor: Int32, length: Int, offset: Int) -> Result<UnsafeMutableRawBufferPointer, Errno>
}

/// An error number, above zero.
struct Errno: Error {
    let code: Int32
}

/// The kernel.
final class KernelCalls: V4L2Calls {
    func open(_ path: String) -> Int32 { cv4l2_open(path, O_RDWR | O_NONBLOCK) }

    func close(_ descriptor: Int32) {
        // A buffer that is still mapped would keep the file open, and the lock held.
        unlock(descriptor)
        _ = CV4L2.close(descriptor)
    }

    func lock(_ descriptor: Int32) -> Int32 { cv4l2_flock(descriptor, LOCK_EX | LOCK_NB) }

    func unlock(_ descriptor: Int32) { _ = cv4l2_flock(descriptor, LOCK_UN) }

    func control(_ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer) -> Int32 {
        cv4l2_ioctl(descriptor, request, argument)
    }

    func map(_ descriptor: Int32, length: Int, offset: Int) -> Result<UnsafeMutableRawBufferPointer, Errno> {
        var address: UnsafeMutableRawPointer?
        let result = cv4l2_mmap(descriptor, length, off_t(offset), &address)
        guard result >= 0, let address else { return .failure(Errno(code: -result)) }
        return .success(UnsafeMutableRawBufferPointer(start: address, count: length))
    }
}
