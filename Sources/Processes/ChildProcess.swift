import Glibc
import Time

/// Runs a program and reads what it prints: whatever a driver does to the child, this process continues.
public enum ChildProcess {
    /// How the child ended.
    public enum Ending: Sendable, Equatable {
        /// With up to 256 KiB of its standard output.
        case ended(SpawnedProcess.Ending, output: [UInt8])
        /// Why it did not start, or its end is not known.
        case failed(String)
        /// It wrote nothing for too long, and was killed.
        case silent
    }

    private static let mostBytes = 256 << 10
    /// How long to wait for a killed process to end; one that hangs in the kernel never does.
    private static let lastPatience = Duration.seconds(1)

    /// Runs a program and waits for its end. Standard error is this process's.
    /// - Parameters:
    ///   - program: its file; by default this program's.
    ///   - environment: as `NAME=VALUE`; nil for this process's.
    ///   - patience: how long it may write nothing; nil for no limit.
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
        if read(ends.0, patience: patience, into: &output) { return ending(of: child, output) }
        child.kill()
        // The pipe closes when it ends.
        if read(ends.0, patience: lastPatience, into: &output) { _ = ending(of: child, output) }
        return .silent
    }

    /// Reads to the end.
    /// - Returns: false if nothing arrived for too long.
    private static func read(_ descriptor: Int32, patience: Duration?, into output: inout [UInt8]) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let ready = poll(&wait, 1, patience.map { Int32(clamping: $0.inMilliseconds) } ?? -1)
            if ready == 0 { return false }
            guard ready > 0 else { continue }
            let count = Glibc.read(descriptor, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return true }
            output += bytes[..<min(count, mostBytes - output.count)]
        }
    }

    private static func ending(of child: SpawnedProcess, _ output: [UInt8]) -> Ending {
        do throws(SpawnedProcess.Failure) {
            return .ended(try child.wait(), output: output)
        } catch { return .failed("\(error)") }
    }
}
