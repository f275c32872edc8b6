@preconcurrency import Glibc

/// The environment of programs that camrec starts: its own, without what is meant for camrec alone.
enum ProgramEnvironment {
    /// What the service manager says to this process alone, and a secret.
    private static let excluded: Set<Substring> = [
        "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
        Substring(PublishingPassword.variableName), "CAMREC_PATH", "CAMREC_START", "CAMREC_END",
        "CAMREC_FRAMES",
    ]

    /// This process's, as `NAME=VALUE`.
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
