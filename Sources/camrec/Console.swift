import Glibc

/// Standard error, as this run is to use it.
struct Console {
    /// Warnings and errors only.
    let isQuiet: Bool
    /// Everything, as lines, wherever standard error leads.
    let isVerbose: Bool
    /// Somebody watches: a progress line is welcome.
    let isTerminal: Bool

    init(isQuiet: Bool, isVerbose: Bool) {
        self.isQuiet = isQuiet
        self.isVerbose = isVerbose
        isTerminal = isatty(STDERR_FILENO) == 1
    }

    /// What is good to know; silent in scripts and under cron.
    func inform(_ line: String) {
        if !isQuiet, isTerminal || isVerbose { Self.write("\(clearing)\(line)\n") }
    }

    /// What somebody should hear of even when the run succeeds.
    func warn(_ line: String) { Self.write("\(clearing)camrec: warning: \(line)\n") }

    /// Why the run fails.
    func fail(_ line: String) { Self.write("\(clearing)camrec: \(line)\n") }

    /// A line that the next one replaces.
    func showProgress(_ line: String) {
        guard hasProgress else { return }
        Self.write("\r\u{1b}[K\(line)")
    }

    var hasProgress: Bool { isTerminal && !isQuiet }

    private var clearing: String { hasProgress ? "\r\u{1b}[K" : "" }

    private static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}
