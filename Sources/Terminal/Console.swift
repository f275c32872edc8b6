import Glibc

/// Standard error, as this run is to use it.
public struct Console: Sendable {
    /// What messages begin with.
    private let program: String
    /// Warnings and errors only.
    public let isQuiet: Bool
    /// Everything, as lines, wherever standard error leads.
    public let isVerbose: Bool
    /// Whether someone watches, so that a progress line is welcome.
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

    /// What is good to know; silent in scripts and under cron.
    public func inform(_ line: String) {
        if !isQuiet, isTerminal || isVerbose { write("\(clearing)\(line.printable)\n") }
    }

    /// Prints a warning, which matters even if the run succeeds.
    public func warn(_ line: String) { write("\(clearing)\(program): warning: \(line.printable)\n") }

    /// Why the run fails.
    public func fail(_ line: String) { write("\(clearing)\(program): \(line.printable)\n") }

    /// A line that the next one replaces.
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

    /// Gives messages that wait some seconds to be taken; none may follow. Call it before the process's end.
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
    /// Names come from drivers, files and other people: what would move the cursor or begin a new line is
    /// shown as its code instead.
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
