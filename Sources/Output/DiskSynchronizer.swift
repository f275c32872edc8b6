import Files
import Glibc
import Synchronization
import Threading
import Time

/// Flushes growing files to the disk, on a thread of its own: a disk may take seconds for it, and writers do
/// not wait.
///
/// A file's name is on the disk when its folder is, which is written after the file begins (fsync(2)).
public final class DiskSynchronizer: Sendable {
    private let loop: SynchronizationLoop
    /// The time between two writes; what is held back in memory is held no longer.
    let interval: Duration

    /// Nil where the system allows no more threads.
    /// - Parameter bound: what a power cut can take at most, as long as the disk needs no more than half of it to
    ///   write what came in the other half.
    public init?(bound: Duration) {
        interval = max(.nanoseconds(1), bound / 2)
        loop = SynchronizationLoop(interval: interval)
        guard loop.start() else { return nil }
    }

    deinit { loop.stop() }

    /// Takes care of an open file until it is ended.
    func begin(_ descriptor: Int32, path: String) -> SynchronizedFile? {
        // One of our own, because the writer closes its own when it likes.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return nil }
        let file = SynchronizedFile(descriptor: copy, path: path)
        loop.add(file)
        return file
    }

    /// Why the disk did not take a file that had ended by then; told once.
    func takeFailure() -> OutputError? { loop.takeFailure() }

    /// Has everything on the disk before it returns, and is over then.
    func finish() { loop.stop() }
}

/// A file that is written to the disk from time to time.
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

    /// Nothing more is written to it.
    func end() { isEnded.store(true, ordering: .releasing) }

    /// Why the disk failed; nil if it did not. Reported once, to its writer or, when that is done with it, to the
    /// synchronizer's owner.
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
        // File systems that cannot do so for a folder do not need it.
        _ = fsync(folder)
        close(folder)
    }
}

/// The synchronizer's thread's work.
private final class SynchronizationLoop: @unchecked Sendable {
    // Safe to share: everything mutable is touched with the monitor's lock held, but for `thread`: its maker has it,
    // and hands it on with the synchronizer to the thread that ends it.
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

    /// Everything is on the disk when this returns.
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
        // What was ended by now is whole, and needs to be written once more at most.
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
