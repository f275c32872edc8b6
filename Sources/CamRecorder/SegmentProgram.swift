import CamPlatform
import Glibc
import CamStorage

/// Starts a program for each finished file, at most two at a time; other files wait.
///
/// A program never delays the recording: files are handed over without blocking, and worker threads wait for
/// the programs. If the programs do not keep up, the oldest waiting files are left out. Every failure is
/// reported, and the recording continues.
///
/// Safe in any thread.
public final class SegmentProgram: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the lock held.

    /// The files so far.
    public struct Counts: Sendable, Hashable {
        /// Files for which the program was started, whether or not it has ended.
        public var started = 0
        /// Files for which the program was started and failed.
        public var failed = 0
        /// Files for which the program was not started.
        public var leftOut = 0
    }

    /// The program's file.
    public let path: String
    /// Raised once no more files come and every program has ended.
    public let ended: Interruption
    private let environment: [String]
    private let isDurable: Bool
    private let limit: DescriptorLimit?
    private let report: @Sendable (SegmentProgramEvent) -> Void
    private let startThread: ThreadStart
    private let monitor = Monitor()
    private var waiting: [FinishedFile] = []
    /// The files for which programs run.
    private var current: [String] = []
    private var workerCount = 0
    private var isClosed = false
    private var counted = Counts()
    private var failures = MessageLimit()
    private var overflows = MessageLimit()
    private var reportedLeftOut = 0

    /// How many programs run at a time.
    static let mostAtOnce = 2
    /// How many files wait at most.
    static let longestQueue = 1000

    /// Runs a function on a new thread, or returns false if the system allows no more threads.
    typealias ThreadStart = @Sendable (@escaping @Sendable () -> Void) -> Bool

    /// - Parameters:
    ///   - environment: the environment of the programs, as `NAME=VALUE`; variables that describe the file
    ///     are added.
    ///   - limit: the descriptor limit that this process raised, so that the programs get the original one;
    ///     nil if this process did not raise it.
    ///   - isDurable: whether a file is flushed to the disk before its program starts.
    ///   - report: receives failures, in any thread.
    /// - Returns: nil if the system has no descriptors left.
    public convenience init?(
        _ path: String, environment: [String], limit: DescriptorLimit? = nil, isDurable: Bool = false,
        report: @escaping @Sendable (SegmentProgramEvent) -> Void
    ) {
        self.init(
            path, environment: environment, limit: limit, isDurable: isDurable, report: report,
            startThread: { body in
                guard let worker = WorkerThread(body: body) else { return false }
                worker.detach()
                return true
            })
    }

    init?(
        _ path: String, environment: [String], limit: DescriptorLimit? = nil, isDurable: Bool,
        report: @escaping @Sendable (SegmentProgramEvent) -> Void, startThread: @escaping ThreadStart
    ) {
        self.startThread = startThread
        guard let ended = Interruption() else { return nil }
        (self.path, self.ended, self.isDurable, self.report) = (path, ended, isDurable, report)
        (self.environment, self.limit) = (environment, limit)
    }

    /// The files so far.
    public var counts: Counts { monitor.withLock { counted } }

    /// Hands over a finished file.
    public func start(for file: FinishedFile) {
        let needsWorker = monitor.withLock {
            guard !isClosed else { return false }
            if waiting.count == Self.longestQueue {
                waiting.removeFirst()
                counted.leftOut += 1
            }
            waiting.append(file)
            guard workerCount < Self.mostAtOnce else { return false }
            workerCount += 1
            return true
        }
        if needsWorker { addWorker() }
        reportOverflow()
    }

    /// Records that no more files come.
    public func close() {
        let (isOver, needsWorker) = monitor.withLock {
            isClosed = true
            guard workerCount == 0, !waiting.isEmpty else { return (workerCount == 0, false) }
            workerCount = 1
            return (false, true)
        }
        if needsWorker { addWorker() }
        if isOver { ended.raise() }
    }

    /// Starts no more programs, and no longer waits for the running ones.
    public func giveUp() {
        let (running, isOver) = monitor.withLock {
            isClosed = true
            return (current, workerCount == 0)
        }
        for file in running { report(.stillRunning(program: path, file: file)) }
        leaveOutRest()
        if isOver { ended.raise() }
    }

    /// Leaves out the waiting files.
    private func leaveOutRest() {
        let left = monitor.withLock {
            counted.leftOut += waiting.count
            waiting = []
            defer { reportedLeftOut = counted.leftOut }
            return counted.leftOut - reportedLeftOut
        }
        if left > 0 { report(.leftOut(program: path, count: left)) }
    }

    private func addWorker() {
        if startThread({ [self] in while let file = next() { handle(file) } }) { return }
        // The file waits for another worker. Once no more files come, the last worker leaves it out.
        let isOver = monitor.withLock {
            workerCount -= 1
            return isClosed && workerCount == 0
        }
        guard isOver else { return }
        leaveOutRest()
        ended.raise()
    }

    /// Returns the next file; nil if no file waits, and the worker then ends.
    private func next() -> FinishedFile? {
        let (file, isOver) = monitor.withLock { () -> (FinishedFile?, Bool) in
            guard waiting.isEmpty else {
                current.append(waiting[0].path)
                return (waiting.removeFirst(), false)
            }
            workerCount -= 1
            return (nil, isClosed && workerCount == 0)
        }
        if isOver { ended.raise() }
        return file
    }

    private func handle(_ file: FinishedFile) {
        let path = Folder.absolute(file.path) ?? file.path
        let problem: SegmentProgramEvent.Problem?
        var isStarted = false
        do throws(SpawnedProcess.Failure) {
            if isDurable { try Self.flush(path) }
            let child = try spawn(for: file, at: path)
            isStarted = true
            monitor.withLock { counted.started += 1 }
            let ending = try child.wait()
            problem = ending == .exited(0) ? nil : .ended(ending)
        } catch {
            problem = FileFacts(path: path) == nil ? .noFile : .notStarted(error)
        }
        let suppressed = monitor.withLock { () -> Int? in
            if let index = current.firstIndex(of: file.path) { current.remove(at: index) }
            if !isStarted { counted.leftOut += 1; reportedLeftOut += 1 }
            guard problem != nil else { return nil }
            if isStarted { counted.failed += 1 }
            return failures.admit(at: .now)
        }
        guard let problem, let suppressed else { return }
        report(.failed(program: self.path, file: file.path, problem, suppressed: suppressed))
    }

    /// Flushes a file and its folder to the disk.
    private static func flush(_ path: String) throws(SpawnedProcess.Failure) {
        for (name, flags) in [(path, O_NONBLOCK), (Folder.of(path), O_DIRECTORY)] {
            let descriptor = open(name, O_RDONLY | O_CLOEXEC | flags)
            guard descriptor >= 0 else { throw SpawnedProcess.Failure(errno: errno) }
            defer { Glibc.close(descriptor) }
            guard fsync(descriptor) == 0 || errno == EINVAL else {
                throw SpawnedProcess.Failure(errno: errno)
            }
        }
    }

    private func spawn(
        for file: FinishedFile, at path: String
    ) throws(SpawnedProcess.Failure) -> SpawnedProcess {
        guard FileFacts(path: path) != nil else { throw SpawnedProcess.Failure(errno: ENOENT) }
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard nothing >= 0 else { throw SpawnedProcess.Failure(errno: errno) }
        defer { Glibc.close(nothing) }
        let (start, end) = (file.start?.iso8601 ?? "", file.end?.iso8601 ?? "")
        return try SpawnedProcess(
            self.path, [path, start, end, "\(file.frames)"],
            environment: environment + [
                "CAMREC_PATH=\(path)", "CAMREC_START=\(start)", "CAMREC_END=\(end)",
                "CAMREC_FRAMES=\(file.frames)",
            ], input: nothing, output: STDERR_FILENO, limit: limit, hasOwnSession: true)
    }

    /// Reports how many files were left out, at a limited rate.
    private func reportOverflow() {
        let count = monitor.withLock { () -> Int in
            let count = counted.leftOut - reportedLeftOut
            guard count > 0, overflows.admit(at: .now) != nil else { return 0 }
            reportedLeftOut += count
            return count
        }
        if count > 0 { report(.leftOut(program: path, count: count)) }
    }
}

// MARK: Events

/// A failure of a program for a finished file. It does not affect the recording. `description` is one line.
public enum SegmentProgramEvent: Sendable, Equatable, CustomStringConvertible {
    /// Why a program did not do its work for a file.
    public enum Problem: Sendable, Equatable {
        case notStarted(SpawnedProcess.Failure)
        case ended(SpawnedProcess.Ending)
        /// The file was removed or moved before its turn.
        case noFile
    }

    /// A program failed, after others that were not reported.
    case failed(program: String, file: String, Problem, suppressed: Int)
    /// The number of files for which no program was started, since the last report.
    case leftOut(program: String, count: Int)
    /// A program still runs at the end.
    case stillRunning(program: String, file: String)

    public var description: String {
        switch self {
        case .failed(let program, let file, let problem, let suppressed):
            "\(program): \(problem.cause) for \(file); \(problem.nextStep(program, file))"
                + (suppressed == 0 ? "" : " (\(suppressed + 1) times since last reported)")
        case .leftOut(let program, let count):
            "\(program): not started for \(count) \(count == 1 ? "file" : "files"), because earlier ones take too long; "
                + "the files are there"
        case .stillRunning(let program, let file):
            "\(program): still running for \(file); camrec no longer waits for it"
        }
    }
}

extension SegmentProgramEvent.Problem {
    fileprivate var cause: String {
        switch self {
        case .notStarted(let failure): "not started (\(failure))"
        case .ended(let ending): "\(ending)"
        case .noFile: "not started"
        }
    }

    fileprivate func nextStep(_ program: String, _ file: String) -> String {
        switch self {
        case .notStarted: "check that it is there, executable, and begins with #! if it is a script"
        case .ended: "to see why, run it with that file"
        case .noFile: "the file was removed before its turn"
        }
    }
}
