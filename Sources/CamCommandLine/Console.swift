import Glibc

/// Writes messages to standard error, as this run's options require.
public struct Console: Sendable {
    /// What messages begin with.
    private let program: String
    /// Whether to print only warnings and errors.
    public let isQuiet: Bool
    /// Whether to print everything, as lines, wherever standard error leads.
    public let isVerbose: Bool
    /// Whether standard error is a terminal, so that a progress line makes sense.
    public let isTerminal: Bool

    /// Nil if messages are written at once.
    private let queue: MessageQueue?

    private static let patience = Duration.seconds(3)

    /// - Parameters:
    ///   - program: what messages begin with.
    ///   - isDetached: callers do not wait for output; `finish` does.
    public init(program: String, isQuiet: Bool, isVerbose: Bool, isDetached: Bool = false) {
        queue = isDetached ? MessageQueue() : nil
        self.program = program
        self.isQuiet = isQuiet
        self.isVerbose = isVerbose
        isTerminal = isatty(STDERR_FILENO) == 1
    }

    /// Prints information; silent in scripts and under cron.
    public func inform(_ line: String) {
        if !isQuiet, isTerminal || isVerbose { write("\(clearing)\(line.printable)\n") }
    }

    /// Prints a warning, which matters even if the run succeeds.
    public func warn(_ line: String) { write("\(clearing)\(program): warning: \(line.printable)\n") }

    /// Prints why the run fails.
    public func fail(_ line: String) { write("\(clearing)\(program): \(line.printable)\n") }

    /// Prints a line that the next one replaces.
    public func showProgress(_ line: String) {
        guard hasProgress else { return }
        // A longer line would wrap, and the next could not replace it.
        write("\r\u{1b}[K\(line.printable.prefix(columns - 1))", isPassing: true)
    }

    /// Whether progress is shown.
    public var hasProgress: Bool { isTerminal && !isQuiet }

    private var clearing: String { hasProgress ? "\r\u{1b}[K" : "" }

    private var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 1 else { return 80 }
        return Int(size.ws_col)
    }

    /// Gives waiting messages a few seconds to be written; none may follow. Call it before the process ends.
    public func finish() { queue?.finish(patience: Self.patience) }

    private func write(_ text: String, isPassing: Bool = false) {
        if let queue {
            queue.add(text, isPassing: isPassing)
        } else {
            _ = DescriptorWriter.write(text, to: STDERR_FILENO)
        }
    }
}

extension String {
    /// Shows control characters as codes: names come from drivers, files and other people, and must not move
    /// the cursor or begin a new line.
    public var printable: String {
        var text = ""
        for scalar in unicodeScalars {
            if scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value) {
                text += scalar.value < 0x10 ? "\\x0" : "\\x"
                text += String(scalar.value, radix: 16)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
