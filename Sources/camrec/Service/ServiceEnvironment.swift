import CamCommandLine
@preconcurrency import Glibc

/// The service manager of this process, according to its environment.
struct ServiceEnvironment {
    /// Returns an environment variable's value.
    let variable: (String) -> String?
    let process: pid_t
    /// Standard error's device and inode, in the form of JOURNAL_STREAM.
    let standardError: String?

    /// This process's environment.
    static var own: ServiceEnvironment {
        var status = stat()
        let isKnown = fstat(STDERR_FILENO, &status) == 0
        return ServiceEnvironment(
            variable: { getenv($0).map { String(cString: $0) } }, process: getpid(),
            standardError: isKnown ? "\(status.st_dev):\(status.st_ino)" : nil)
    }

    /// Whether a service manager expects notifications from this process itself (sd_notify(3)).
    var isNotified: Bool { variable("NOTIFY_SOCKET") != nil }

    /// The folder that persists through restarts, if the unit has one (RuntimeDirectory=) and this is its
    /// main process: processes that a script starts in turn or in parallel do not continue each other.
    var runtimeFolder: String? {
        let isOwnProcess = variable("SYSTEMD_EXEC_PID").map { $0 == "\(process)" } ?? isNotified
        guard isOwnProcess, let folders = variable("RUNTIME_DIRECTORY") else {
            return nil
        }
        return folders.split(separator: ":").first.map(String.init)
    }

    /// Whether systemd runs this process as a service (systemd.exec(5), "Environment variables set or propagated"):
    /// as the main process, or with its messages going to the service's journal.
    ///
    /// INVOCATION_ID proves nothing: a desktop's shells inherit it.
    var hasManager: Bool {
        isNotified || variable("SYSTEMD_EXEC_PID") == "\(process)"
            || (standardError != nil && variable("JOURNAL_STREAM") == standardError)
    }

    /// Whether the unit starts the program again when it ends with `ExitStatus.superseded`.
    var restartsSuperseded: Bool { isNotified && variable("CAMREC_RESTARTS_SUPERSEDED") == "1" }

    /// Returns the exit status that tells a service manager whether to restart: not after a complete recording.
    /// - Parameter isComplete: whether the requested time has elapsed.
    func status(_ status: ExitStatus, isComplete: Bool) -> ExitStatus {
        isComplete && hasManager && status != .done ? .incomplete : status
    }
}

/// The environment of programs that camrec starts: its own, without the variables meant for camrec alone.
enum ProgramEnvironment {
    /// Variables that the service manager sets for this process alone, and a secret.
    private static let excluded: Set<Substring> = [
        "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
        Substring(PublishingPassword.variableName), "CAMREC_PATH", "CAMREC_START", "CAMREC_END",
        "CAMREC_FRAMES", "CAMREC_EVENT", "CAMREC_TIME", "CAMREC_CAMERA",
    ]

    /// This process's environment, as `NAME=VALUE`.
    static var own: [String] {
        var variables: [String] = []
        var next = environ
        while let text = next.pointee {
            variables.append(String(cString: text))
            next += 1
        }
        return variables
    }

    /// Returns the variables for a program.
    static func forPrograms(_ variables: [String] = own) -> [String] {
        variables.filter { !excluded.contains($0.prefix { $0 != "=" }) }
    }
}
