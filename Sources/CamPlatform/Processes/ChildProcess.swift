import Glibc

/// Runs a program and reads what it prints: whatever a driver does to the child, this process continues.
public enum ChildProcess {
    /// How the child ended.
    public enum Ending: Sendable, Equatable {
        /// With up to 256 KiB of its standard output.
        case ended(SpawnedProcess.Ending, output: [UInt8])
        /// Why it did not start, or its end is not known.
        case failed(String)
        /// It wrote nothing for too long, or did not end afterwards, and was killed.
        case silent
    }

    private static let mostBytes = 256 << 10
    /// How long to wait for a killed process to end; one that hangs in the kernel never does.
    private static let lastPatience = Duration.seconds(1)

    /// Runs a program and waits for its end. The child shares this process's standard error.
    /// - Parameters:
    ///   - program: the program's file; by default the running program.
    ///   - environment: as `NAME=VALUE`; nil for the environment of this process.
    ///   - patience: how long it may write nothing, and how long it may take to end afterwards; nil for no limit.
    public static func run(
        program: String = "/proc/self/exe", _ arguments: [String], environment: [String]? = nil,
        patience: Duration?
    ) -> Ending {
        var ends: (Int32, Int32) = (-1, -1)
        let result = withUnsafeMutablePointer(to: &ends) {
            $0.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) }
        }
        guard result == 0 else { return .failed("no pipe: \(String(cString: strerror(errno)))") }
        defer { close(ends.0) }
        for end in [ends.0, ends.1] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let child: SpawnedProcess
        do throws(SpawnedProcess.Failure) {
            defer { close(ends.1) }
            child = try SpawnedProcess(
                program, arguments, environment: environment, output: ends.1)
        } catch { return .failed("not started: \(error)") }
        var output: [UInt8] = []
        let isRead = read(ends.0, patience: patience, into: &output)
        guard let patience else { return ending(of: child, output) }
        // Before the child is waited for: afterwards another process may have its number.
        if !isRead { child.kill() }
        guard let waiting = ChildWait(child) else {
            // Waiting on this thread might never end.
            child.kill()
            return .failed("out of threads to wait for its end; raise 'ulimit -u'")
        }
        if isRead {
            if let ending = waiting.ending(until: .now + patience) { return Self.ending(ending, output) }
            child.kill()
        }
        _ = waiting.ending(until: .now + lastPatience)
        return .silent
    }

    /// Reads to the end.
    /// - Returns: false if nothing arrived for too long.
    private static func read(_ descriptor: Int32, patience: Duration?, into output: inout [UInt8]) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            // Reading without a limit would wait for a driver that hangs.
            let wait = WaitResult.wait(for: descriptor, unless: nil, until: patience.map { .now + $0 })
            guard wait == .ready else { return false }
            let count = Glibc.read(descriptor, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return true }
            output += bytes[..<min(count, mostBytes - output.count)]
        }
    }

    private static func ending(of child: SpawnedProcess, _ output: [UInt8]) -> Ending {
        ending(Result { () throws(SpawnedProcess.Failure) in try child.wait() }, output)
    }

    private static func ending(
        _ result: Result<SpawnedProcess.Ending, SpawnedProcess.Failure>, _ output: [UInt8]
    ) -> Ending {
        switch result {
        case .success(let ending): .ended(ending, output: output)
        case .failure(let error): .failed("\(error)")
        }
    }
}

/// Waits for a child's end on a separate thread, however long that takes, so that even a child that hung in
/// the kernel leaves no zombie.
private final class ChildWait: Sendable {
    private let monitor = Monitor()
    private nonisolated(unsafe) var result: Result<SpawnedProcess.Ending, SpawnedProcess.Failure>?

    /// - Returns: nil if the system allows no more threads.
    init?(_ child: SpawnedProcess) {
        // The thread keeps this object until the child has ended.
        let thread = WorkerThread { [self] in
            let result = Result { () throws(SpawnedProcess.Failure) in try child.wait() }
            monitor.withLock {
                self.result = result
                monitor.signal()
            }
        }
        guard let thread else { return nil }
        thread.detach()
    }

    /// Returns nil if the child has not ended by then.
    func ending(until deadline: Instant) -> Result<SpawnedProcess.Ending, SpawnedProcess.Failure>? {
        monitor.withLock {
            while result == nil, .now < deadline { monitor.wait(until: deadline) }
            return result
        }
    }
}
