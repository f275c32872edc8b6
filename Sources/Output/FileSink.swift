import Bitstream
import Glibc

/// Raw Annex B into a file, a named pipe or standard output.
///
/// A file that exists is refused or replaced; it is replaced when the first access unit is there, not
/// before, and a new file without any is removed. A write that fails ends the file at its last whole access
/// unit. Raw Annex B needs no index: what is on the disk plays.
public final class FileSink: PacketSink {
    public let name: String
    /// Bytes of whole access units.
    public private(set) var bytesWritten = 0

    private let path: String?
    /// Below zero once it was closed.
    private var descriptor: Int32
    private let kind: Kind
    private var hasStarted = false
    /// Where in the file the recording begins: standard output may be a file with something in it.
    private var beginning: off_t = 0
    private let wasCreated: Bool
    private let interruption: Interruption

    private enum Kind { case file, stream }

    /// Standard output's name on the command line.
    public static let standardOutput = "-"

    /// Opens `path`, or standard output for `-`.
    /// - Parameter interruption: ends a wait for a pipe's reader.
    public init(path: String, overwrite: Bool, interruption: Interruption) throws(OutputError) {
        self.interruption = interruption
        if path == Self.standardOutput {
            (name, self.path, wasCreated) = ("standard output", nil, false)
            descriptor = STDOUT_FILENO
            let flags = fcntl(descriptor, F_GETFL)
            guard flags >= 0, flags & O_ACCMODE != O_RDONLY else {
                throw OutputError(.notCreated(errno: EBADF), output: "standard output")
            }
        } else {
            (name, self.path) = (path, path)
            (descriptor, wasCreated) = try Self.open(path, overwrite: overwrite)
        }
        var status = stat()
        kind = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? .file : .stream
    }

    /// Which file it writes.
    public var identity: FileIdentity? { FileIdentity(descriptor: descriptor) }

    deinit {
        if let path, wasCreated, bytesWritten == 0 { unlink(path) }
        if path != nil, descriptor >= 0 { close(descriptor) }
    }

    public func write(_ unit: AccessUnit) throws(OutputError) {
        try start()
        try unit.withUnsafeBytes { (bytes) throws(OutputError) in
            var rest = bytes
            while !rest.isEmpty {
                if kind == .stream { try waitForReader() }
                // A pipe that is ready takes PIPE_BUF bytes without blocking (pipe(7)).
                let count = kind == .stream ? min(rest.count, Int(PIPE_BUF)) : rest.count
                let written = Glibc.write(descriptor, rest.baseAddress, count)
                if written < 0, errno == EINTR { continue }
                guard written >= 0 else { throw abandon(errno) }
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
        }
        bytesWritten += unit.count
    }

    public func finish() throws(OutputError) {
        guard path != nil, descriptor >= 0 else { return }
        let result = close(descriptor)
        descriptor = -1
        // Network file systems tell of a full disk only now (close(2)).
        guard result == 0 || errno == EINTR else { throw failure(errno) }
    }

    /// The first access unit is there: only now is what stood in the file given up.
    private func start() throws(OutputError) {
        guard !hasStarted else { return }
        if kind == .file {
            if path == nil {
                beginning = lseek(
                    descriptor, 0, fcntl(descriptor, F_GETFL) & O_APPEND != 0 ? SEEK_END : SEEK_CUR)
            } else if ftruncate(descriptor, 0) != 0 {
                throw failure(errno)
            }
        }
        hasStarted = true
    }

    private func waitForReader() throws(OutputError) {
        var descriptors = (
            pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: interruption.descriptor, events: Int16(POLLIN), revents: 0)
        )
        while true {
            let ready = withUnsafeMutablePointer(to: &descriptors) {
                $0.withMemoryRebound(to: pollfd.self, capacity: 2) { poll($0, 2, -1) }
            }
            if ready < 0, errno == EINTR { continue }
            if descriptors.0.revents != 0 { return }
            if descriptors.1.revents != 0 {
                throw OutputError(.stalled(seconds: interruption.patience), output: name)
            }
        }
    }

    /// Cuts off what of the failed access unit reached the file, so that it ends with a whole one.
    private func abandon(_ code: Int32) -> OutputError {
        if kind == .file, beginning >= 0 { _ = ftruncate(descriptor, beginning + off_t(bytesWritten)) }
        return failure(code)
    }

    private func failure(_ code: Int32) -> OutputError {
        switch code {
        case ENOSPC, EDQUOT: OutputError(.diskFull, output: name)
        case EPIPE: OutputError(.closedPipe, output: name)
        case EFBIG: OutputError(.tooLarge, output: name)
        default: OutputError(.writeFailed(errno: code), output: name)
        }
    }

    private static func open(_ path: String, overwrite: Bool) throws(OutputError) -> (Int32, created: Bool) {
        let created = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        if created >= 0 { return (created, true) }
        guard errno == EEXIST else { throw OutputError(.notCreated(errno: errno), output: path) }
        // Pipes and character devices exist before they are written to; files and disks have something to lose.
        var status = stat()
        if stat(path, &status) == 0, [S_IFREG, S_IFBLK].contains(status.st_mode & S_IFMT), !overwrite {
            throw OutputError(.exists, output: path)
        }
        let opened = Glibc.open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        guard opened >= 0 else {
            throw OutputError(errno == ENXIO ? .noReader : .notCreated(errno: errno), output: path)
        }
        _ = fcntl(opened, F_SETFL, O_WRONLY)
        return (opened, false)
    }
}
