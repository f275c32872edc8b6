import Bitstream
import Files
import Glibc
import Testing

/// A folder that is gone with its owner, and all that is in it.
final class TemporaryFolder {
    private let root: String

    init() {
        var template = Array("/tmp/camrec-test-XXXXXX".utf8CString)
        mkdtemp(&template)
        root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { remove(root) }

    private func remove(_ path: String) {
        // A link to a folder is not gone into.
        if unlink(path) == 0 { return }
        for name in Folder.names(in: path) where name != "." && name != ".." { remove("\(path)/\(name)") }
        rmdir(path)
    }

    /// The names in a folder of it but for hidden ones, in alphabetical order.
    func names(in folder: String = "") -> [String] {
        Folder.names(in: path(folder)).filter { !$0.hasPrefix(".") }.sorted()
    }

    func path(_ name: String) -> String { name.isEmpty ? root : "\(root)/\(name)" }

    /// - Returns: false where there was no room.
    @discardableResult func write(_ name: String, _ bytes: [UInt8]) -> Bool {
        let descriptor = open(path(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        return Glibc.write(descriptor, bytes, bytes.count) == bytes.count
    }

    /// Nil where there is no such file.
    func content(_ name: String) -> [UInt8]? { contentOfFile(path(name)) }

    func status(_ name: String) -> stat {
        var status = stat()
        stat(path(name), &status)
        return status
    }
}

/// Nil where there is no such file.
func contentOfFile(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return readAll(descriptor, count: .max)
}

/// Up to `count` bytes, to the end of the file or as far as a pipe has any.
func readAll(_ descriptor: Int32, count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = Array(repeating: UInt8(0), count: 1 << 16)
    while bytes.count < count {
        let result = read(descriptor, &buffer, min(buffer.count, count - bytes.count))
        if result <= 0 { break }
        bytes += buffer[..<result]
    }
    return bytes
}

/// A file system with room for few bytes: a tmpfs for root, a limit on file sizes would hit every test.
final class SmallFileSystem {
    let path: String

    init(bytes: Int) throws {
        var template = Array("/tmp/camrec-test-XXXXXX".utf8CString)
        mkdtemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard mount("camrec-test", path, "tmpfs", 0, "size=\(bytes)") == 0 else {
            rmdir(path)
            try Test.cancel("mounting a small file system needs root")
        }
    }

    deinit {
        umount2(path, Int32(MNT_DETACH))
        rmdir(path)
    }
}

/// An access unit of one NAL unit.
func accessUnit(
    length: Int = 1000, isIDR: Bool = true, frameNumber: Int = 0, timestamp: Int64 = 0
) -> AccessUnit {
    var builder = AccessUnitPool(codec: .h264).makeBuilder()
    // Behind the header stands the number, so that no two frames are the same; nowhere are zeros.
    let bytes = (0..<max(1, length)).map { index -> UInt8 in
        switch index {
        case 0: isIDR ? 0x65 : 0x41
        case 1...3: UInt8(0x80 | frameNumber >> (7 * (index - 1)) & 0x7F)
        default: UInt8(truncatingIfNeeded: index | 1)
        }
    }
    builder.append(bytes.span.bytes)
    return builder.finish(isIDR: isIDR, frameNumber: frameNumber, sequence: 0, timestamp: timestamp)
}

extension AccessUnit {
    var allBytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// A thread of the test's own.
final class BackgroundThread {
    private var thread = pthread_t()

    init(_ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Box(body))
        pthread_create(
            &thread, nil,
            { argument in
                Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
    }

    func join() { pthread_join(thread, nil) }

    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
