import Glibc

/// What runs camrec, as its environment tells.
enum ServiceEnvironment {
    /// Whether systemd runs it as a service (systemd.exec(5), "Environment variables in spawned processes").
    ///
    /// A terminal's shell may have INVOCATION_ID from the desktop's service, so it counts without a terminal only.
    static var hasManager: Bool {
        getenv("NOTIFY_SOCKET") != nil || (getenv("INVOCATION_ID") != nil && isatty(STDERR_FILENO) == 0)
    }
}
