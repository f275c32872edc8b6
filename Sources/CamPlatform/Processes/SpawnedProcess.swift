import CLinux
@preconcurrency import Glibc

/// A child process that runs a program, without a shell.
///
/// It inherits only the standard descriptors, and starts with the default signal handling: no signal is
/// blocked or ignored, whatever this process and its libraries' threads do.
public struct SpawnedProcess: Sendable {
    private let identifier: pid_t

    /// Why a program was not started. `description` is the system's text.
    public struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
        public let errno: Int32

        /// Creates the failure of a system call.
        public init(errno: Int32) { self.errno = errno }

        public var description: String { String(cString: strerror(errno)) }
    }

    /// How a process ended.
    public enum Ending: Sendable, Equatable, CustomStringConvertible {
        case exited(Int32)
        case killed(signal: Int32)

        public var description: String {
            switch self {
            case .exited(let code): "exit code \(code)"
            case .killed(let signal): "signal \(signal), \(String(cString: strsignal(signal)))"
            }
        }
    }

    /// Starts a program.
    /// - Parameters:
    ///   - program: the program's file; a name without a slash is looked up in the folders of `PATH`.
    ///   - arguments: without the program's name.
    ///   - environment: as `NAME=VALUE`; nil for the environment of this process.
    ///   - input: becomes standard input; nil for the standard input of this process.
    ///   - output: becomes standard output.
    ///   - limit: the limit that this process raised, to be reset for the child; nil
    ///     to pass on the limit in force.
    ///   - hasOwnSession: whether the child runs in a session without a terminal: Ctrl-C does not reach it,
    ///     and a password prompt fails instead of stopping the child.
    public init(
        _ program: String, _ arguments: [String], environment: [String]? = nil, input: Int32? = nil,
        output: Int32, limit: DescriptorLimit? = nil, hasOwnSession: Bool = false
    ) throws(Failure) {
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        var variables = (environment ?? []).map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        var original = limit?.original ?? rlimit()
        var child: pid_t = 0
        let code = words.withUnsafeMutableBufferPointer { words in
            variables.withUnsafeMutableBufferPointer { variables in
                withUnsafePointer(to: &original) { original in
                    var request = processes_program()
                    request.file = UnsafePointer(words[0])
                    request.arguments = UnsafePointer(words.baseAddress)
                    request.environment = UnsafePointer(environment == nil ? environ : variables.baseAddress)
                    (request.input, request.output) = (input ?? -1, output)
                    request.begins_session = hasOwnSession
                    if limit != nil { request.descriptors = original }
                    return processes_start(&request, &child)
                }
            }
        }
        guard code == 0 else { throw Failure(errno: -code) }
        identifier = child
    }

    /// Returns why a program could not be started, as far as its file shows; nil if it could.
    /// - Parameters:
    ///   - program: as for `init`.
    ///   - folders: the value of `PATH`; nil for the C library's default.
    public static func obstacle(to program: String, folders: String?) -> Failure? {
        if program.contains("/") { return obstacle(toFile: program) }
        var found: Failure?
        for folder in (folders ?? "/bin:/usr/bin").split(separator: ":", omittingEmptySubsequences: false) {
            guard let obstacle = obstacle(toFile: "\(folder.isEmpty ? "." : folder)/\(program)") else {
                return nil
            }
            if obstacle.errno == EACCES { found = obstacle }
        }
        return found ?? Failure(errno: ENOENT)
    }

    private static func obstacle(toFile path: String) -> Failure? {
        var status = stat()
        guard stat(path, &status) == 0, access(path, X_OK) == 0 else { return Failure(errno: errno) }
        return status.st_mode & S_IFMT == S_IFREG ? nil : Failure(errno: EACCES)
    }

    /// Kills the process (SIGKILL).
    public func kill() { _ = Glibc.kill(identifier, SIGKILL) }

    /// Waits for the end of the process and reaps it. Call it only once.
    public func wait() throws(Failure) -> Ending {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure(errno: errno) }
        }
        // The macros of <sys/wait.h>, which Swift does not import.
        let signal = status & 0x7f
        return signal != 0 ? .killed(signal: signal) : .exited((status >> 8) & 0xff)
    }
}

/// How many files this process may have open (RLIMIT_NOFILE).
public struct DescriptorLimit: Sendable {
    /// Descriptors are smaller than this.
    public let count: Int
    /// The limits that the process was started with, which its child processes get.
    let original: rlimit

    init(count: Int, original: rlimit = rlimit()) { (self.count, self.original) = (count, original) }

    /// Raises the limit as far as the system allows. The default of 1024 exists only for old programs that
    /// use select(2), and many clients need more.
    public static func raise() -> DescriptorLimit {
        var limit = rlimit()
        processes_get_descriptor_limit(&limit)
        let original = limit
        limit.rlim_cur = limit.rlim_max
        let isRaised = processes_set_descriptor_limit(&limit) == 0
        return DescriptorLimit(
            count: Int(clamping: isRaised ? limit.rlim_cur : original.rlim_cur), original: original)
    }

    /// The lowest descriptor that is reserved for files, cameras and GPUs, which may open more at any time.
    /// - Parameter outputs: how many outputs there are.
    public func reserve(outputs: Int) -> Int {
        max(0, count - outputs * Self.perOutput - min(count / 4, Self.mostElse))
    }

    /// Descriptors for the next file, its timestamps, its folder and the journal.
    private static let perOutput = 6
    /// Descriptors for the control socket, and for reopening a camera and an
    /// encoder with their shared buffers.
    private static let mostElse = 64
}
