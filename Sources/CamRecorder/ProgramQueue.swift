import CamPlatform
import Glibc
import CamStorage

/// What a program is started for: a finished file, or an event.
package protocol ProgramCall: Sendable {
    static var subject: ProgramSubject { get }
    /// Its name in messages.
    var name: String { get }
    /// Calls with the same value are made one after the other; nil if any others may run at the same time.
    var sequence: String? { get }
    /// Whether there is nothing left to start a program for.
    var isObsolete: Bool { get }

    /// Starts a program.
    func spawn(_ launch: ProgramLaunch) throws(SpawnedProcess.Failure) -> SpawnedProcess
}

/// The kinds of `ProgramCall`.
package enum ProgramSubject: String, Sendable {
    case file, event
}

/// How a program is started.
package struct ProgramLaunch: Sendable {
    /// The program's file.
    package let path: String
    /// The environment, as `NAME=VALUE`; variables that describe the call are added.
    package let environment: [String]
    /// The descriptor limit that this process raised, so that the programs get the original one; nil if this
    /// process did not raise it.
    package let limit: DescriptorLimit?
    /// Whether a file is flushed to the disk before its program starts.
    package let isDurable: Bool

    /// Describes the start of a program.
    package init(
        _ path: String, environment: [String], limit: DescriptorLimit? = nil, isDurable: Bool = false
    ) {
        (self.path, self.environment, self.limit, self.isDurable) = (path, environment, limit, isDurable)
    }

    /// Starts the program.
    /// - Parameters:
    ///   - variables: additions to the environment.
    ///   - input: becomes standard input.
    func spawn(
        _ arguments: [String], _ variables: [String], input: Int32
    ) throws(SpawnedProcess.Failure) -> SpawnedProcess {
        try SpawnedProcess(
            path, arguments, environment: environment + variables, input: input, output: STDERR_FILENO,
            limit: limit, hasOwnSession: true)
    }
}

/// How often a program was started.
package struct ProgramCounts: Sendable, Hashable {
    /// Calls for which the program was started, whether or not it has ended.
    package var started = 0
    /// Calls for which the program was started and failed.
    package var failed = 0
    /// Calls for which the program was not started.
    package var leftOut = 0
}

/// Starts a program for each finished file or event, at most two at a time; others wait.
///
/// A program never delays the recording: calls are handed over without blocking, and worker threads wait for
/// the programs. If the programs do not keep up, the oldest waiting calls are left out. Every failure is
/// reported, and the recording continues.
///
/// Safe in any thread.
package final class ProgramQueue<Call: ProgramCall>: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the lock held.

    /// Raised once no more calls come and every program has ended.
    package let ended: CancellationFlag
    private let launch: ProgramLaunch
    private let report: @Sendable (ProgramEvent) -> Void
    private let startThread: ThreadStart
    private let monitor = Monitor()
    private var waiting: [Call] = []
    /// The calls whose programs run, with what the workers know them by.
    private var current: [Int: Call] = [:]
    private var callCount = 0
    private var workerCount = 0
    private var isClosed = false
    private var counted = ProgramCounts()
    private var failures = MessageLimit()
    private var overflows = MessageLimit()
    private var reportedLeftOut = 0

    /// How many programs run at a time.
    static var mostAtOnce: Int { 2 }
    /// How many calls wait at most.
    static var longestQueue: Int { 1000 }

    /// Runs a function on a new thread, or returns false if the system allows no more threads.
    typealias ThreadStart = @Sendable (@escaping @Sendable () -> Void) -> Bool

    /// - Parameter report: receives failures, in any thread.
    /// - Returns: nil if the system has no descriptors left.
    package convenience init?(
        _ launch: ProgramLaunch, report: @escaping @Sendable (ProgramEvent) -> Void
    ) {
        self.init(
            launch, report: report,
            startThread: { body in
                guard let worker = WorkerThread(body: body) else { return false }
                worker.detach()
                return true
            })
    }

    init?(
        _ launch: ProgramLaunch, report: @escaping @Sendable (ProgramEvent) -> Void,
        startThread: @escaping ThreadStart
    ) {
        guard let ended = CancellationFlag() else { return nil }
        (self.ended, self.launch, self.report, self.startThread) = (ended, launch, report, startThread)
    }

    /// The program's file.
    package var path: String { launch.path }

    /// The calls so far.
    package var counts: ProgramCounts { monitor.withLock { counted } }

    /// Hands over a call.
    package func start(for call: Call) {
        let needsWorker = monitor.withLock {
            guard !isClosed else { return false }
            if waiting.count == Self.longestQueue {
                waiting.removeFirst()
                counted.leftOut += 1
            }
            waiting.append(call)
            guard workerCount < Self.mostAtOnce else { return false }
            workerCount += 1
            return true
        }
        if needsWorker { addWorker() }
        reportOverflow()
    }

    /// Records that no more calls come.
    package func close() {
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
    package func giveUp() {
        let (running, isOver) = monitor.withLock {
            isClosed = true
            return (current.sorted { $0.key < $1.key }.map(\.value), workerCount == 0)
        }
        for call in running { report(event(.stillRunning(call.name))) }
        leaveOutRest()
        if isOver { ended.raise() }
    }

    /// Leaves out the waiting calls.
    private func leaveOutRest() {
        let left = monitor.withLock {
            counted.leftOut += waiting.count
            waiting = []
            defer { reportedLeftOut = counted.leftOut }
            return counted.leftOut - reportedLeftOut
        }
        if left > 0 { report(event(.leftOut(left))) }
    }

    private func addWorker() {
        if startThread({ [self] in while let (number, call) = next() { handle(call, number) } }) { return }
        // The call waits for another worker. Once no more calls come, the last worker leaves it out.
        let isOver = monitor.withLock {
            workerCount -= 1
            return isClosed && workerCount == 0
        }
        guard isOver else { return }
        leaveOutRest()
        ended.raise()
    }

    /// Returns the next call and a number for it; nil if none may be made now, and the worker then ends. The worker
    /// of the call that is in the way makes those that wait for it.
    private func next() -> (number: Int, call: Call)? {
        let (next, isOver) = monitor.withLock { () -> ((Int, Call)?, Bool) in
            let running = Set(current.values.compactMap(\.sequence))
            if let index = waiting.firstIndex(where: { $0.sequence.map(running.contains) != true }) {
                let call = waiting.remove(at: index)
                callCount += 1
                current[callCount] = call
                return ((callCount, call), false)
            }
            workerCount -= 1
            return (nil, isClosed && workerCount == 0)
        }
        if isOver { ended.raise() }
        return next
    }

    private func handle(_ call: Call, _ number: Int) {
        let problem: ProgramEvent.Problem?
        var isStarted = false
        do throws(SpawnedProcess.Failure) {
            let child = try call.spawn(launch)
            isStarted = true
            monitor.withLock { counted.started += 1 }
            let ending = try child.wait()
            problem = ending == .exited(0) ? nil : .ended(ending)
        } catch {
            problem = call.isObsolete ? .noFile : .notStarted(error)
        }
        let suppressed = monitor.withLock { () -> Int? in
            current[number] = nil
            if !isStarted { counted.leftOut += 1; reportedLeftOut += 1 }
            guard problem != nil else { return nil }
            if isStarted { counted.failed += 1 }
            return failures.admit(at: .now)
        }
        guard let problem, let suppressed else { return }
        report(event(.failed(call.name, problem, suppressed: suppressed)))
    }

    private func event(_ kind: ProgramEvent.Kind) -> ProgramEvent {
        ProgramEvent(program: path, subject: Call.subject, kind: kind)
    }

    /// Reports how many calls were left out, at a limited rate.
    private func reportOverflow() {
        let count = monitor.withLock { () -> Int in
            let count = counted.leftOut - reportedLeftOut
            guard count > 0, overflows.admit(at: .now) != nil else { return 0 }
            reportedLeftOut += count
            return count
        }
        if count > 0 { report(event(.leftOut(count))) }
    }
}

// MARK: Files

extension FinishedFile: ProgramCall {
    package static var subject: ProgramSubject { .file }
    package var name: String { path }
    package var sequence: String? { nil }
    /// Whether the file was removed or moved before its turn.
    package var isObsolete: Bool { FileFacts(path: Folder.absolute(path) ?? path) == nil }

    package func spawn(_ launch: ProgramLaunch) throws(SpawnedProcess.Failure) -> SpawnedProcess {
        let path = Folder.absolute(path) ?? path
        if launch.isDurable { try Self.flush(path) }
        guard FileFacts(path: path) != nil else { throw SpawnedProcess.Failure(errno: ENOENT) }
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard nothing >= 0 else { throw SpawnedProcess.Failure(errno: errno) }
        defer { Glibc.close(nothing) }
        let (start, end) = (start?.iso8601 ?? "", end?.iso8601 ?? "")
        return try launch.spawn(
            [path, start, end, "\(frames)"],
            [
                "CAMREC_PATH=\(path)", "CAMREC_START=\(start)", "CAMREC_END=\(end)",
                "CAMREC_FRAMES=\(frames)",
            ], input: nothing)
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
}

// MARK: Failures

/// A failure of a program. It does not affect the recording. `description` is one line.
package struct ProgramEvent: Sendable, Equatable, CustomStringConvertible {
    /// What happened.
    package enum Kind: Sendable, Equatable {
        /// A program failed for the call with this name, after others that were not reported.
        case failed(String, Problem, suppressed: Int)
        /// The number of calls for which no program was started, since the last report.
        case leftOut(Int)
        /// A program still runs at the end.
        case stillRunning(String)
    }

    /// Why a program did not do its work.
    package enum Problem: Sendable, Equatable {
        case notStarted(SpawnedProcess.Failure)
        case ended(SpawnedProcess.Ending)
        /// The file was removed or moved before its turn.
        case noFile
    }

    /// The program's file.
    package let program: String
    /// What it was started for.
    package let subject: ProgramSubject
    package let kind: Kind

    package var description: String {
        switch kind {
        case .failed(let name, let problem, let suppressed):
            "\(program): \(problem.cause) for \(name); \(problem.nextStep(subject))"
                + (suppressed == 0 ? "" : " (\(suppressed + 1) times since last reported)")
        case .leftOut(let count):
            "\(program): not started for \(Quantity.count(count, subject.rawValue)), because earlier ones take too long"
                + (subject == .file ? "; the files are there" : "")
        case .stillRunning(let name):
            "\(program): still running for \(name); camrec no longer waits for it"
        }
    }
}

extension ProgramEvent.Problem {
    fileprivate var cause: String {
        switch self {
        case .notStarted(let failure): "not started (\(failure))"
        case .ended(let ending): "\(ending)"
        case .noFile: "not started"
        }
    }

    fileprivate func nextStep(_ subject: ProgramSubject) -> String {
        switch self {
        case .notStarted: "check that it is there, executable, and begins with #! if it is a script"
        case .ended: "to see why, run it with that \(subject.rawValue)"
        case .noFile: "the file was removed before its turn"
        }
    }
}
