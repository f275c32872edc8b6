import Bitstream
import CamPlatform
import Glibc

/// A file, a named pipe, a device or standard output that is being written; used by all outputs that write.
///
/// An existing file is rejected or replaced: it is replaced only when the first bytes arrive. A new file of
/// which nothing was kept is removed. `keep` marks what was written so far as complete; `abandon` discards
/// what was written after that.
public final class OutputFile {
    /// The path, or "standard output".
    public let name: String
    /// Bytes up to the last `keep`, from the recording's beginning.
    package private(set) var keptCount = 0

    private let path: String?
    /// Negative once it is closed.
    private var descriptor: Int32
    private let kind: Kind
    /// Whether it is a regular file that had a name when it was opened.
    private let hasName: Bool
    private var hasBegun = false
    /// Where in the file the recording begins: standard output may be a file with something in it.
    private var beginning: off_t = 0
    /// Bytes from `beginning` to where the next write goes.
    package private(set) var position = 0
    /// Bytes from `beginning` to the end.
    package private(set) var count = 0
    private let wasCreated: Bool
    private let cancellation: CancellationFlag
    /// Flushes the file to the disk from time to time; nil without a synchronizer.
    private var synchronized: SynchronizedFile?
    /// The file without a name until it is complete; nil if it has its name from the beginning.
    private var staged: StagedFile?
    private let overwrite: Bool

    private enum Kind { case file, stream }

    /// Opens `path`, or standard output for `-`.
    /// - Parameters:
    ///   - cancellation: ends a wait for a pipe's reader.
    ///   - synchronizer: flushes data written to a file to the disk.
    ///   - isStaged: whether a file appears, and replaces another, only when it is closed after `keep`; pipes
    ///     and devices are written directly.
    public init(
        path: String, overwrite: Bool, cancellation: CancellationFlag, synchronizer: DiskSynchronizer? = nil,
        isStaged: Bool = false
    ) throws(OutputError) {
        (self.cancellation, self.overwrite) = (cancellation, overwrite)
        if path == FileSink.standardOutput {
            (name, self.path, wasCreated) = ("standard output", nil, false)
            descriptor = STDOUT_FILENO
            let flags = fcntl(descriptor, F_GETFL)
            guard flags >= 0, flags & O_ACCMODE != O_RDONLY else {
                throw OutputError(.notCreated(errno: EBADF), output: "standard output")
            }
        } else if isStaged, let staged = try Self.stage(path, overwrite: overwrite) {
            (name, self.path, wasCreated) = (path, path, false)
            (descriptor, self.staged) = (staged.descriptor, staged)
        } else {
            (name, self.path) = (path, path)
            (descriptor, wasCreated) = try Self.open(path, overwrite: overwrite)
        }
        var status = stat()
        kind = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? .file : .stream
        hasName = kind == .file && status.st_nlink > 0
        if kind == .file { synchronized = synchronizer?.begin(descriptor, path: path) }
    }

    deinit {
        removeIfEmpty()
        if path != nil, descriptor >= 0 { Glibc.close(descriptor) }
        synchronized?.end()
    }

    /// The file's identity.
    public var identity: FileIdentity? { FileIdentity(descriptor: descriptor) }

    /// Whether data can be overwritten: not in a pipe, nor in append mode.
    package var isSeekable: Bool { kind == .file && fcntl(descriptor, F_GETFL) & O_APPEND == 0 }

    /// Whether the file appears when it is closed.
    package var isStaged: Bool { staged != nil }

    /// Reads what was written to a staged file.
    /// - Returns: the number of bytes, 0 at the end, or a negative value with errno set.
    package func read(into room: UnsafeMutableRawBufferPointer, at position: Int) -> Int {
        pread(descriptor, room.baseAddress, room.count, beginning + off_t(position))
    }

    /// Writes all of the bytes at the position.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(OutputError) {
        try begin()
        if let error = synchronized?.takeFailure() { throw error }
        if isRemoved { throw OutputError(.removed, output: name) }
        var rest = bytes
        while !rest.isEmpty {
            if kind == .stream { try waitForReader() }
            // A pipe that is ready takes PIPE_BUF bytes without blocking (pipe(7)).
            let length = kind == .stream ? min(rest.count, Int(PIPE_BUF)) : rest.count
            let written = Glibc.write(descriptor, rest.baseAddress, length)
            if written < 0, errno == EINTR { continue }
            guard written >= 0 else { throw failure(errno) }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            position += written
            count = max(count, position)
        }
    }

    /// Writes all of the bytes at the position.
    public func write(_ bytes: [UInt8]) throws(OutputError) {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in try write(bytes) }
    }

    /// Writes all of the bytes at the position, or none: a partial write is cut off.
    public func writeWhole(_ bytes: UnsafeRawBufferPointer) throws(OutputError) {
        do throws(OutputError) { try write(bytes) } catch {
            abandon()
            throw error
        }
        keep()
    }

    /// Moves the position, counted from the recording's beginning. Requires `isSeekable`.
    package func seek(to position: Int) throws(OutputError) {
        try begin()
        guard lseek(descriptor, beginning + off_t(position), SEEK_SET) >= 0 else { throw failure(errno) }
        self.position = position
    }

    /// Marks what was written up to now as complete.
    public func keep() { keptCount = count }

    /// Discards what was written since the last `keep`.
    public func abandon() {
        guard kind == .file, hasBegun, beginning >= 0, descriptor >= 0 else { return }
        _ = ftruncate(descriptor, beginning + off_t(keptCount))
    }

    /// Ends the output, and removes a new file, whatever was kept.
    public func discard() {
        keptCount = 0
        try? close()
    }

    /// Flushes a file's content to the disk, so that it survives a power cut.
    func synchronize() throws(OutputError) {
        guard kind == .file, fdatasync(descriptor) != 0, errno != EINVAL else { return }
        throw failure(errno)
    }

    /// Ends the output; closing it again does nothing.
    public func close() throws(OutputError) {
        synchronized?.end()
        guard path != nil, descriptor >= 0 else { return }
        removeIfEmpty()
        let isLost = keptCount > 0 && isRemoved
        if keptCount > 0, let staged = staged.take() {
            do throws(OutputError.Kind) {
                try staged.publish(overwrite: overwrite)
            } catch { throw OutputError(error, output: name) }
        }
        let result = Glibc.close(descriptor)
        descriptor = -1
        // Network file systems may report a full disk only now (close(2)).
        guard result == 0 || errno == EINTR else { throw failure(errno) }
        if isLost { throw OutputError(.removed, output: name) }
    }

    /// Whether the file has lost its last name: its data can never be read.
    private var isRemoved: Bool {
        var status = stat()
        return hasName && fstat(descriptor, &status) == 0 && status.st_nlink == 0
    }

    /// Called with the first bytes: discards the file's previous content only now.
    private func begin() throws(OutputError) {
        guard !hasBegun else { return }
        if kind == .file {
            if path == nil {
                beginning = lseek(
                    descriptor, 0, fcntl(descriptor, F_GETFL) & O_APPEND != 0 ? SEEK_END : SEEK_CUR)
            } else if ftruncate(descriptor, 0) != 0 {
                throw failure(errno)
            }
        }
        hasBegun = true
    }

    /// Removes a new file of which nothing was kept, but not another file that has replaced it.
    private func removeIfEmpty() {
        guard let path, wasCreated, keptCount == 0, let location = try? FileLocation(path), let identity
        else { return }
        try? location.followLink()
        if location.status.map(FileIdentity.init) == identity { location.unlink() }
    }

    private func waitForReader() throws(OutputError) {
        // A reader that is ready takes precedence over the cancellation.
        let wake = WaitResult.wait(for: descriptor, POLLOUT, or: cancellation.descriptor, unless: nil)
        guard wake == .ready else {
            throw OutputError(.stalled(for: cancellation.patience), output: name)
        }
    }

    private func failure(_ code: Int32) -> OutputError { OutputError(writeFailed: code, output: name) }
}

extension OutputFile {
    /// Writes a file completely or not at all.
    /// - Parameter cancellation: ends a wait for a pipe's reader.
    /// - Returns: its name.
    @discardableResult public static func write(
        _ bytes: [UInt8], to path: String, overwrite: Bool, cancellation: CancellationFlag
    ) throws(OutputError) -> String {
        let file = try OutputFile(
            path: path, overwrite: overwrite, cancellation: cancellation, isStaged: true)
        try file.write(bytes)
        file.keep()
        try file.close()
        return file.name
    }
}

// MARK: - Opening

/// Finds or creates an output's file. Other programs that use the same folder cannot interfere: the checks
/// look at what was opened, not at what was there a moment before.
extension OutputFile {
    /// Creates the file, or opens the existing one.
    package static func open(_ path: String, overwrite: Bool) throws(OutputError) -> (Int32, created: Bool) {
        let location: FileLocation
        do throws(FileLocation.Failure) {
            location = try FileLocation(path)
        } catch { throw OutputError(error, output: path) }
        if let created = try create(location, path: path) { return (created, true) }
        do throws(FileLocation.Failure) {
            try location.followLink()
        } catch { throw OutputError(error, output: path) }
        // A link's target may not exist yet.
        if location.status == nil, let created = try create(location, path: path) { return (created, true) }
        return (try openExisting(location, path: path, overwrite: overwrite), false)
    }

    /// - Returns: nil if something exists there already.
    private static func create(_ location: FileLocation, path: String) throws(OutputError) -> Int32? {
        let created = location.open(O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
        if created == -EEXIST { return nil }
        guard created >= 0 else { throw OutputError(.notCreated(errno: -created), output: path) }
        _ = isLockedElsewhere(created)
        return created
    }

    /// Throws the error that creating a staged file would throw. Creates nothing, and opens no pipe.
    public static func refuseUnusable(_ path: String, overwrite: Bool) throws(OutputError) {
        guard path != FileSink.standardOutput else { return }
        if let staged = try stage(path, overwrite: overwrite) { Glibc.close(staged.descriptor) }
    }

    /// Creates a file without a name, which gets this one when it is complete.
    /// - Returns: nil if something other than a regular file is there, which cannot be replaced.
    static func stage(_ path: String, overwrite: Bool) throws(OutputError) -> StagedFile? {
        let location: FileLocation
        do throws(FileLocation.Failure) {
            location = try FileLocation(path)
            try location.followLink()
        } catch { throw OutputError(error, output: path) }
        let former = location.status
        if let status = former {
            guard status.st_mode & S_IFMT == S_IFREG else { return nil }
            // Fails if a writer has it open.
            Glibc.close(try openExisting(location, path: path, overwrite: overwrite))
        }
        do throws(OutputError.Kind) {
            return try StagedFile(at: location, replacing: former)
        } catch { throw OutputError(error, output: path) }
    }

    private static func openExisting(
        _ location: FileLocation, path: String, overwrite: Bool
    ) throws(OutputError) -> Int32 {
        // A refused file is not opened: closing it would look like a write to programs that watch it.
        if !overwrite, let status = location.status, status.hasSomethingToLose {
            throw OutputError(.exists, output: path)
        }
        let opened = location.open(O_WRONLY | O_NONBLOCK)
        guard opened >= 0 else {
            throw OutputError(opened == -ENXIO ? .noReader : .notCreated(errno: -opened), output: path)
        }
        do throws(OutputError) { try examine(opened, path: path, overwrite: overwrite) } catch {
            Glibc.close(opened)
            throw error
        }
        _ = fcntl(opened, F_SETFL, O_WRONLY)
        return opened
    }

    /// Checks whether the opened file may be written: pipes and character devices exist before they are
    /// written to, but files and disks have something to lose.
    package static func examine(_ opened: Int32, path: String, overwrite: Bool) throws(OutputError) {
        var status = stat()
        guard fstat(opened, &status) == 0 else { throw OutputError(.notCreated(errno: errno), output: path) }
        if status.hasSomethingToLose, !overwrite { throw OutputError(.exists, output: path) }
        if isLockedElsewhere(opened) { throw OutputError(.inUse, output: path) }
    }

    /// Takes a regular file's lock, as long as it is open.
    private static func isLockedElsewhere(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return !WriteLock.acquire(descriptor)
    }
}

extension OutputError {
    /// Creates the error for an output whose location cannot be reached.
    public init(_ failure: FileLocation.Failure, output: String) {
        self.init(
            failure.link.map(Kind.untrustedLink) ?? .notCreated(errno: failure.errno), output: output)
    }
}

extension stat {
    fileprivate var hasSomethingToLose: Bool { [S_IFREG, S_IFBLK].contains(st_mode & S_IFMT) }
}

// MARK: - Raw streams

/// Writes raw Annex B to a file, a named pipe or standard output.
///
/// An existing file is rejected or replaced: it is replaced only when the first access unit arrives. A new
/// file that gets none is removed. If a write fails, the file ends at its last whole access unit. Raw Annex B
/// needs no index: whatever is on the disk can be played.
public final class FileSink: AccessUnitSink {
    private let file: OutputFile

    /// Standard output's name on the command line.
    public static let standardOutput = "-"

    /// Opens `path`, or standard output for `-`.
    /// - Parameters:
    ///   - cancellation: ends a wait for a pipe's reader.
    ///   - synchronizer: flushes written data to the disk.
    public init(
        path: String, overwrite: Bool, cancellation: CancellationFlag, synchronizer: DiskSynchronizer? = nil
    ) throws(OutputError) {
        file = try OutputFile(
            path: path, overwrite: overwrite, cancellation: cancellation, synchronizer: synchronizer)
    }

    public var name: String { file.name }

    /// The number of bytes of whole access units.
    public var bytesWritten: Int { file.keptCount }

    /// The identity of the file that it writes.
    public var identity: FileIdentity? { file.identity }

    public func write(_ unit: AccessUnit) throws(OutputError) {
        try unit.withUnsafeBytes { (bytes) throws(OutputError) in try file.writeWhole(bytes) }
    }

    /// An IDR brings its parameter sets, so Annex B simply continues.
    public func beginStream(_ description: StreamDescription) {}

    public func finish() throws(OutputError) { try file.close() }
}
