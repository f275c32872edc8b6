import Bitstream
import CamPlatform
import Glibc
import Containers

/// A stream of bytes, which may break and restart.
///
/// Used by one thread.
protocol ByteSource: AnyObject {
    /// Its name in messages.
    var name: String { get }

    /// Whether reading would not block.
    var isReady: Bool { get }

    /// Reads available bytes, waiting for at least one or, in a live stream, for the first pause.
    func read(into room: UnsafeMutableRawBufferPointer) throws(PlayError) -> Reading

    /// Rejects the stream, because its data is unusable.
    /// - Parameter reason: why, for the user.
    /// - Returns: whether the source has another stream to read.
    func giveUp(_ reason: String) -> Bool
}

/// The result of reading.
enum Reading: Equatable {
    /// This many bytes, at least one.
    case bytes(Int)
    /// A live stream pauses: the last bytes probably complete a picture.
    case pause
    /// The stream has ended; the next read begins another. `isWhole` is false if something is missing at its
    /// end.
    case interrupted(isWhole: Bool)
    /// Nothing more will come.
    case ended
}

/// A file or standard input.
final class FileSource: ByteSource {
    let name: String
    private let descriptor: Int32
    private let length: FileLength
    private let cancellation: CancellationFlag

    /// Opens a file, or standard input for nil. Waits until a named pipe has a writer.
    init(path: String?, cancellation: CancellationFlag) throws(PlayError) {
        self.cancellation = cancellation
        guard let path else {
            (name, descriptor) = ("standard input", STDIN_FILENO)
            length = FileLength(descriptor: descriptor)
            return
        }
        name = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .notOpened(path, errno: errno) }
        length = FileLength(descriptor: descriptor)
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            close(descriptor)
            throw .notOpened(path, errno: EISDIR)
        }
    }

    /// Whether a descriptor refers to a file in a file system, not to a pipe, socket or terminal.
    static func isFile(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Returns a reader if the file is a container; nil for anything else. Several readers may share the
    /// file.
    func container(takesSound: Bool = false) throws(PlayError) -> ContainerReader? {
        guard Self.isFile(descriptor), lseek(descriptor, 0, SEEK_CUR) == 0, try startsAsContainer() else {
            return nil
        }
        do throws(InputError) {
            return try ContainerReader(
                descriptor: descriptor, name: name, takesSound: takesSound, cancellation: cancellation)
        } catch { throw .input(error) }
    }

    /// Whether it can be read again.
    var isSeekable: Bool { Self.isFile(descriptor) }

    /// Reads from the beginning again.
    func rewind() throws(PlayError) {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw .readFailed(name, errno: errno) }
    }

    private func startsAsContainer() throws(PlayError) -> Bool {
        var head = [UInt8](repeating: 0, count: 4096)
        let count = head.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count >= 0 else { throw .readFailed(name, errno: errno) }
        let kind = StreamKind(head: head.span.bytes.extracting(first: count), isWhole: false)
        return if case .container = kind { true } else { false }
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    func read(into room: UnsafeMutableRawBufferPointer) throws(PlayError) -> Reading {
        while cancellation.wait(for: descriptor) == .ready {
            let count = Glibc.read(descriptor, room.baseAddress, room.count)
            if count > 0 { return .bytes(count) }
            if count == 0 {
                if length.hasShrunk { throw .input(InputError(.shrunk, input: name)) }
                return .ended
            }
            guard errno == EINTR || errno == EAGAIN else { throw .readFailed(name, errno: errno) }
        }
        return .ended
    }

    var isReady: Bool { WaitResult.wait(for: descriptor, unless: nil, until: .start) == .ready }

    func giveUp(_ reason: String) -> Bool { false }
}
