import CamPlatform
import Glibc

/// Finds or creates an output's file. Other programs that use the same folder cannot interfere: the checks
/// look at what was opened, not at what was there a moment before.
extension OutputFile {
    /// Creates the file, or opens the existing one.
    static func open(_ path: String, overwrite: Bool) throws(OutputError) -> (Int32, created: Bool) {
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
        if created < 0, errno == EEXIST { return nil }
        guard created >= 0 else { throw OutputError(.notCreated(errno: errno), output: path) }
        _ = isLockedElsewhere(created)
        return created
    }

    /// Throws what would prevent a staged file from being created; creates nothing, and opens no pipe.
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
            throw OutputError(errno == ENXIO ? .noReader : .notCreated(errno: errno), output: path)
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
    static func examine(_ opened: Int32, path: String, overwrite: Bool) throws(OutputError) {
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
