import CamPlatform
import Glibc
import Synchronization

/// Flushes growing files to the disk, on its own thread: a flush may take seconds, and writers must not wait.
///
/// A file's name is on the disk only when its folder is, so the folder is flushed after the file begins
/// (fsync(2)).
public final class DiskSynchronizer: Sendable {
    private let loop: SynchronizationLoop
    /// The time between two flushes, and the longest time that data may wait in memory.
    package let interval: Duration

    /// Returns nil if the system allows no more threads.
    /// - Parameter bound: the most recording time that a power cut can cost, provided that each flush takes
    ///   at most half of it.
    public init?(bound: Duration) {
        interval = max(.nanoseconds(1), bound / 2)
        loop = SynchronizationLoop(interval: interval)
        guard loop.start() else { return nil }
    }

    deinit { loop.stop() }

    /// Flushes an open file until it is ended.
    func begin(_ descriptor: Int32, path: String) -> SynchronizedFile? {
        // A separate descriptor, because the writer may close its own at any time.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return nil }
        let file = SynchronizedFile(descriptor: copy, path: path)
        loop.add(file)
        return file
    }

    /// The flush error of a file that has ended; reported once.
    package func takeFailure() -> OutputError? { loop.takeFailure() }

    /// Flushes everything to the disk, and stops.
    package func finish() { loop.stop() }
}

/// A file that is flushed to the disk from time to time.
final class SynchronizedFile: Sendable {
    fileprivate let descriptor: Int32
    fileprivate let path: String
    fileprivate let isEnded = Atomic<Bool>(false)
    private let code = Atomic<Int32>(0)

    fileprivate init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Marks the file as complete: nothing more is written.
    func end() { isEnded.store(true, ordering: .releasing) }

    /// The flush error; nil if there was none. Reported once: to the file's writer or, after the file has
    /// ended, to the synchronizer's owner.
    func takeFailure() -> OutputError? {
        let code = code.exchange(0, ordering: .relaxed)
        return code == 0 ? nil : OutputError(writeFailed: code, output: path)
    }

    fileprivate func synchronize() {
        guard fdatasync(descriptor) != 0, errno != EINVAL else { return }
        code.store(errno, ordering: .relaxed)
    }

    fileprivate func synchronizeFolder() {
        let folder = open(Folder.of(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        // File systems that cannot flush a folder do not need to.
        _ = fsync(folder)
        close(folder)
    }
}

/// The work of the synchronizer's thread.
private final class SynchronizationLoop: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held, except `thread`, which only
    // the synchronizer's creator and then the thread that ends it use.
    private let monitor = Monitor()
    private let interval: Duration
    private var files: [SynchronizedFile] = []
    private var newcomers: [SynchronizedFile] = []
    private var isStopping = false
    private var failure: OutputError?
    private var thread: WorkerThread?

    init(interval: Duration) { self.interval = interval }

    func start() -> Bool {
        thread = WorkerThread { [self] in run() }
        return thread != nil
    }

    func add(_ file: SynchronizedFile) { monitor.withLock { newcomers.append(file) } }

    func takeFailure() -> OutputError? { monitor.withLock { failure.take() } }

    /// Returns when everything is on the disk.
    func stop() {
        monitor.withLock {
            isStopping = true
            monitor.signal()
        }
        if let thread = thread.take() { thread.join() }
    }

    private func run() {
        while waitForTurn() { synchronize() }
        synchronize()
    }

    private func waitForTurn() -> Bool {
        let deadline = Instant.now + interval
        return monitor.withLock {
            while !isStopping, Instant.now < deadline { monitor.wait(until: deadline) }
            return !isStopping
        }
    }

    private func synchronize() {
        let (files, newcomers) = monitor.withLock {
            defer { self.newcomers = [] }
            return (self.files + self.newcomers, self.newcomers)
        }
        // Files that have ended by now are complete and need at most one more flush.
        let rest = files.filter { !$0.isEnded.load(ordering: .acquiring) }
        for file in files { file.synchronize() }
        for file in newcomers { file.synchronizeFolder() }
        monitor.withLock {
            for file in files where !rest.contains(where: { $0 === file }) {
                failure = failure ?? file.takeFailure()
            }
            self.files = rest
        }
    }
}
