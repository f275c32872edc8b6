import Glibc
import Terminal

/// What runs camrec, as its environment tells.
struct ServiceEnvironment {
    /// The value of an environment variable.
    let variable: (String) -> String?
    let process: pid_t
    /// Device and inode of standard error, as JOURNAL_STREAM has them.
    let standardError: String?

    /// This process's.
    static var own: ServiceEnvironment {
        var status = stat()
        let isKnown = fstat(STDERR_FILENO, &status) == 0
        return ServiceEnvironment(
            variable: { getenv($0).map { String(cString: $0) } }, process: getpid(),
            standardError: isKnown ? "\(status.st_dev):\(status.st_ino)" : nil)
    }

    /// Whether a service manager listens to this process itself (sd_notify(3)).
    var isNotified: Bool { variable("NOTIFY_SOCKET") != nil }

    /// A folder that lasts through restarts, where the unit has one (RuntimeDirectory=) and this is its own process:
    /// others that a script starts one after the other, or side by side, have nothing to hand on.
    var runtimeFolder: String? {
        let isOwnProcess = variable("SYSTEMD_EXEC_PID").map { $0 == "\(process)" } ?? isNotified
        guard isOwnProcess, let folders = variable("RUNTIME_DIRECTORY") else {
            return nil
        }
        return folders.split(separator: ":").first.map(String.init)
    }

    /// Whether systemd runs it as a service (systemd.exec(5), "Environment variables set or propagated"): as the
    /// service's own process, or with the service's journal for its messages.
    ///
    /// INVOCATION_ID says nothing: a desktop's shells inherit it.
    var hasManager: Bool {
        isNotified || variable("SYSTEMD_EXEC_PID") == "\(process)"
            || (standardError != nil && variable("JOURNAL_STREAM") == standardError)
    }

    /// The exit status that tells a service manager whether to start again: not what has lasted as long as it was to.
    /// - Parameter isComplete: whether everything that was asked for is over.
    func status(_ status: ExitStatus, isComplete: Bool) -> ExitStatus {
        isComplete && hasManager && status != .done ? .incomplete : status
    }
}
