import Bitstream
import CamPlatform
import Glibc
import Testing
import TestSupport

extension TemporaryFolder {
    /// The names in one of its folders, except hidden ones, in alphabetical order.
    func names(in folder: String = "") -> [String] {
        Folder.names(in: path(folder)).filter { !$0.hasPrefix(".") }.sorted()
    }

    /// Nil if there is no such file.
    func content(_ name: String) -> [UInt8]? { contentOfFile(path(name)) }

    func status(_ name: String) -> stat {
        var status = stat()
        stat(path(name), &status)
        return status
    }
}

/// Nil if there is no such file.
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
    private let folder = TemporaryFolder()
    var path: String { folder.path }

    init(bytes: Int) throws {
        guard mount("camrec-test", folder.path, "tmpfs", 0, "size=\(bytes)") == 0 else {
            try Test.cancel("mounting a small file system needs root")
        }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }
}

/// An access unit of one NAL unit.
func accessUnit(
    length: Int = 1000, isIDR: Bool = true, frameNumber: Int = 0, timestamp: Instant = .start
) -> AccessUnit {
    var builder = AccessUnitPool(codec: .h264).makeBuilder()
    // The number follows the header, so that no two frames are the same; there are no zeros.
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

/// The test's own thread.
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
