import CLinux
@preconcurrency import Glibc

/// A child process that runs a program, without a shell.
///
/// It inherits no descriptors but the standard ones, and begins like a program that a login starts: no signal is blocked
/// or ignored, whatever this process and the threads of libraries do.
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
    ///   - program: its file; a name without a slash is looked for in the folders of `PATH`.
    ///   - arguments: without the program's name.
    ///   - environment: as `NAME=VALUE`; nil for this process's.
    ///   - input: becomes standard input; nil for this process's.
    ///   - output: becomes standard output.
    ///   - limit: the one that this process raised; nil to pass on the limit in force.
    ///   - hasOwnSession: whether it has no terminal: Ctrl-C leaves it alone, and what asks for a password there fails
    ///     in place of being stopped.
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
        guard code == 0 else { throw Failure(errno: code) }
        identifier = child
    }

    /// Ends it at once.
    public func kill() { _ = Glibc.kill(identifier, SIGKILL) }

    /// Waits for its end. Call it once, after which the process is forgotten.
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

    /// Raises the limit as far as the system allows. Programs that a user starts get 1024 only for the sake of old ones,
    /// and many clients need more.
    public static func raise() -> DescriptorLimit {
        var limit = rlimit()
        processes_get_descriptor_limit(&limit)
        let original = limit
        limit.rlim_cur = limit.rlim_max
        let isRaised = processes_set_descriptor_limit(&limit) == 0
        return DescriptorLimit(
            count: Int(clamping: isRaised ? limit.rlim_cur : original.rlim_cur), original: original)
    }

    /// Where the descriptors begin that are left for files, cameras and GPUs, which open some at any time.
    /// - Parameter outputs: how many outputs there are.
    public func reserve(outputs: Int) -> Int {
        max(0, count - outputs * Self.perOutput - min(count / 4, Self.mostElse))
    }

    /// The next file and its timestamps, its folder, and the journal.
    private static let perOutput = 6
    /// For a camera and an encoder that are opened again, with buffers that they share, and for the control socket.
    private static let mostElse = 64
}
