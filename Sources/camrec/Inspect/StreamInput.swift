import CamPlatform
import Glibc
import Output
import CamCommandLine

/// A file or standard input, read as it comes.
final class StreamInput {
    /// Its name in messages.
    let name: String
    let descriptor: Int32
    private let isPipe: Bool
    private let length: FileLength
    private let interruption: Interruption
    /// The end of reading after an interruption, on CLOCK_MONOTONIC; nil before one.
    private var deadline: Instant?

    /// How long a pipe's writer, which Ctrl-C also reaches, has to write the rest.
    private static let patience = Duration.seconds(2)

    /// Why a file cannot be read.
    struct Failure: Error {
        let message: String
        let status: ExitStatus
    }

    /// Opens a file, or standard input for `-`.
    init(path: String, interruption: Interruption) throws(Failure) {
        self.interruption = interruption
        if path == FileSink.standardOutput {
            name = "standard input"
            descriptor = STDIN_FILENO
        } else {
            name = path
            let opened = open(path, O_RDONLY | O_CLOEXEC)
            guard opened >= 0 else { throw Self.openFailure(path, errno) }
            descriptor = opened
        }
        length = FileLength(descriptor: descriptor)
        var status = stat()
        let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
        isPipe = kind != S_IFREG
        if kind == S_IFDIR {
            if descriptor != STDIN_FILENO { close(descriptor) }
            throw Failure(message: "\(name): is a folder; name a recording", status: .noInput)
        }
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// Whether it supports random access.
    var isFile: Bool { !isPipe }

    /// The file's identity.
    var identity: FileIdentity? { FileIdentity(descriptor: descriptor) }

    /// Reads the available bytes, waiting for at least one.
    /// - Returns: the number of bytes read; 0 at the end, or when the wait is interrupted.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
        while true {
            guard waitForBytes() else { return 0 }
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count == 0, length.hasShrunk {
                throw Failure(
                    message: InputError(.shrunk, input: name).description, status: .inputOutput)
            }
            if count >= 0 { return count }
            guard errno == EINTR || errno == EAGAIN else {
                let cause = String(cString: strerror(errno))
                throw Failure(message: "\(name): reading failed: \(cause)", status: .inputOutput)
            }
        }
    }

    /// - Returns: false if reading should end.
    private func waitForBytes() -> Bool {
        guard isPipe else { return !interruption.isRaised }
        if deadline == nil {
            guard interruption.wait(for: descriptor) == .interrupted else { return true }
            deadline = .now + Self.patience
        }
        return Wake.wait(for: descriptor, unless: nil, until: deadline) == .ready
    }

    private static func openFailure(_ path: String, _ code: Int32) -> Failure {
        let cause = String(cString: strerror(code))
        return switch code {
        case ENOENT, ENOTDIR:
            Failure(
                message: InputError(.notOpened(errno: ENOENT), input: path).description, status: .noInput)
        case EACCES, EPERM:
            Failure(message: "\(path): \(cause); check the file's permissions", status: .noPermission)
        default: Failure(message: "cannot open \(path): \(cause)", status: .noInput)
        }
    }
}
