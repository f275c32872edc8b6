import Glibc

/// What runs camrec, as its environment tells.
enum ServiceEnvironment {
    /// Whether a service manager listens to this process itself (sd_notify(3)).
    static var isNotified: Bool { getenv("NOTIFY_SOCKET") != nil }

    /// Whether systemd runs it as a service (systemd.exec(5), "Environment variables in spawned processes").
    ///
    /// A terminal's shell may have INVOCATION_ID from the desktop's service, so it counts without a terminal only.
    static var hasManager: Bool {
        isNotified || (getenv("INVOCATION_ID") != nil && isatty(STDERR_FILENO) == 0)
    }
}
