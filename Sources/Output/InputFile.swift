import Bitstream
import Files
import Glibc

/// A regular file that is read from its beginning, more than once if necessary.
final class InputFile {
    let path: String
    private let descriptor: Int32
    private let length: FileLength
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    init(path: String) throws(InputError) {
        self.path = path
        // Without O_NONBLOCK, opening a pipe that has no writer would block.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw InputError(.notOpened(errno: errno), input: path) }
        length = FileLength(descriptor: descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw InputError(.notAFile, input: path)
        }
    }

    deinit {
        buffer.deallocate()
        if descriptor >= 0 { close(descriptor) }
    }

    /// The file's identity.
    var identity: FileIdentity? { FileIdentity(descriptor: descriptor) }

    /// Detects the kind of stream from the first bytes, which will be read again.
    func kind() throws(InputError) -> StreamKind? {
        let head = try read()
        let kind = StreamKind(head: head.bytes, isWhole: head.count < StreamKind.decisiveByteCount)
        try rewind()
        return kind
    }

    /// Reads some bytes, which are valid until the next call; none at the end of the file.
    func read() throws(InputError) -> UnsafeRawBufferPointer {
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count == 0, length.hasShrunk { throw InputError(.shrunk, input: path) }
            if count >= 0 { return UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
            guard errno == EINTR else { throw InputError(.readFailed(errno: errno), input: path) }
        }
    }

    /// Reads from the beginning again.
    func rewind() throws(InputError) {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw InputError(.readFailed(errno: errno), input: path)
        }
    }
}
