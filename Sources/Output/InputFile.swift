import Bitstream
import CamPlatform
import Glibc

/// A regular file that is read from its beginning, more than once if necessary.
final class InputFile {
    let path: String
    private let descriptor: Int32
    private let isOwned: Bool
    private var position: off_t = 0
    private let length: FileLength
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    convenience init(path: String) throws(InputError) {
        // Without O_NONBLOCK, opening a pipe that has no writer would block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw InputError(.notOpened(errno: errno), input: path) }
        try self.init(descriptor, isOwned: true, name: path)
    }

    /// Reads an open file. The caller keeps it, and keeps it open as long as this exists.
    convenience init(descriptor: Int32, name: String) throws(InputError) {
        try self.init(descriptor, isOwned: false, name: name)
    }

    private init(_ descriptor: Int32, isOwned: Bool, name path: String) throws(InputError) {
        (self.path, self.descriptor, self.isOwned) = (path, descriptor, isOwned)
        length = FileLength(descriptor: descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw InputError(.notAFile, input: path)
        }
    }

    deinit {
        buffer.deallocate()
        if isOwned { close(descriptor) }
    }

    /// The file's identity.
    var identity: FileIdentity? { FileIdentity(descriptor: descriptor) }

    /// Detects the kind of stream from the first bytes, which will be read again.
    func kind() throws(InputError) -> StreamKind? {
        let head = try read()
        let kind = StreamKind(head: head.bytes, isWhole: head.count < StreamKind.decisiveByteCount)
        rewind()
        return kind
    }

    /// Reads some bytes, which are valid until the next call; none at the end of the file.
    func read() throws(InputError) -> UnsafeRawBufferPointer {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, position)
            position += off_t(max(0, count))
            if count == 0, length.hasShrunk { throw InputError(.shrunk, input: path) }
            if count >= 0 { return UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
            guard errno == EINTR else { throw InputError(.readFailed(errno: errno), input: path) }
        }
    }

    /// Reads from the beginning again.
    func rewind() { position = 0 }
}
