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

// MARK: - Truncation

/// The length of a file when it was opened. Tells truncation during reading from the normal end of the file.
public struct FileLength: Sendable {
    private let descriptor: Int32
    /// `nil` unless it is a regular file.
    private let original: off_t?

    /// Records the length of an open file. The caller keeps ownership of the descriptor.
    public init(descriptor: Int32) {
        (self.descriptor, original) = (descriptor, Self.length(of: descriptor))
    }

    /// Whether the file became shorter. Growth is normal: a recording in progress grows.
    public var hasShrunk: Bool {
        guard let original, let current = Self.length(of: descriptor) else { return false }
        return current < original
    }

    private static func length(of descriptor: Int32) -> off_t? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return status.st_size
    }
}

// MARK: - Decoder configuration records

extension DecoderConfigurationRecord {
    /// Reads a file with the content of an avcC or hvcC box, as `camrec inspect --avcc-record` writes it.
    public init(path: String) throws(InputError) {
        let file = try InputFile(path: path)
        // One read suffices: the buffer is longer than any record, even with 31 SPSs and 255 PPSs of H.264.
        guard let record = DecoderConfigurationRecord(try file.read().bytes) else {
            throw InputError(
                .malformed(
                    "this is not a decoder configuration record (avcC or hvcC); camrec inspect --avcc-record writes one"
                ), input: path)
        }
        self = record
    }
}

// MARK: - Errors

/// Why an input could not be read. `description` is one line: thing, cause, next step.
public struct InputError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The cause.
    public enum Kind: Sendable, Equatable {
        case notOpened(errno: Int32)
        /// A folder, a pipe or a device, which cannot be read twice.
        case notAFile
        case readFailed(errno: Int32)
        /// The file was truncated while it was read.
        case shrunk
        /// The file's content is invalid; the text says how.
        case malformed(String)
        /// The file contradicts the request; the text says how.
        case contradiction(String)
        /// libavformat, which containers need, is missing.
        case noContainerLibrary(name: String, reason: String)
        /// Reading was interrupted.
        case interrupted
    }

    /// The cause.
    public let kind: Kind
    /// The path.
    public let input: String

    /// An error of an input.
    public init(_ kind: Kind, input: String) {
        self.kind = kind
        self.input = input
    }

    /// The problem, without the file's name.
    public var problem: String {
        if case .malformed(let problem) = kind { problem } else { description }
    }

    public var description: String {
        switch kind {
        case .notOpened(ENOENT) where input.contains("://"):
            "\(input): this command reads files, not addresses; save the stream first: camplay --save FILE tcp://HOST:PORT"
        case .notOpened(ENOENT): "\(input): no such file; check the name"
        case .notOpened(EMFILE), .notOpened(ENFILE):
            "cannot open \(input): too many open files; raise 'ulimit -n'"
        case .notOpened(let code):
            "cannot open \(input): \(String(cString: strerror(code))); check its permissions"
        case .notAFile: "\(input) is not a file; give a recorded file"
        case .readFailed(let code):
            "\(input): reading failed: \(String(cString: strerror(code))); check the disk"
        case .shrunk: "\(input) became shorter while it was read: another program is changing it; read a copy"
        case .malformed(let problem), .contradiction(let problem): "\(input): \(problem)"
        case .noContainerLibrary(let name, let reason):
            "cannot read \(input): containers need \(name) (\(reason)); install \(ContainerLibrary.package(of: name))"
        case .interrupted: "\(input): stopped while reading"
        }
    }
}
