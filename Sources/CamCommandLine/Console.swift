import CamPlatform
import FoundationEssentials
import Glibc

/// Writes messages to standard error, as this run's options require.
package struct Console: Sendable {
    /// The name that messages begin with.
    private let program: String
    /// Whether to print only warnings and errors.
    package let isQuiet: Bool
    /// Whether to print everything as lines, even if standard error is no terminal.
    package let isVerbose: Bool
    /// Whether standard error is a terminal, so that a progress line makes sense.
    package let isTerminal: Bool

    /// The queue of a detached console; nil if callers write their messages themselves.
    private let queue: MessageQueue?

    private static let patience = Duration.seconds(3)

    /// - Parameters:
    ///   - program: the name that messages begin with.
    ///   - isDetached: whether a queue writes the messages, and only `finish` waits for output.
    package init(program: String, isQuiet: Bool, isVerbose: Bool, isDetached: Bool = false) {
        queue = isDetached ? MessageQueue() : nil
        self.program = program
        self.isQuiet = isQuiet
        self.isVerbose = isVerbose
        isTerminal = isatty(STDERR_FILENO) == 1
    }

    /// Prints information; silent in scripts and under cron.
    package func inform(_ line: String) {
        if !isQuiet, isTerminal || isVerbose { write("\(clearing)\(line.printable)\n") }
    }

    /// Prints a warning, which matters even if the run succeeds.
    package func warn(_ line: String) { write("\(clearing)\(program): warning: \(line.printable)\n") }

    /// Prints why the run fails.
    package func fail(_ line: String) { write("\(clearing)\(program): \(line.printable)\n") }

    /// Prints a progress line, which replaces the previous one.
    package func showProgress(_ line: String) {
        guard hasProgress else { return }
        // A longer line would wrap, and the next could not replace it.
        write("\r\u{1b}[K\(line.printable.prefix(columns - 1))", isPassing: true)
    }

    /// Whether progress is shown.
    package var hasProgress: Bool { isTerminal && !isQuiet }

    private var clearing: String { hasProgress ? "\r\u{1b}[K" : "" }

    private var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 1 else { return 80 }
        return Int(size.ws_col)
    }

    /// Waits a few seconds for the queued messages to be written. Call it last, before the process ends.
    package func finish() { queue?.finish(patience: Self.patience) }

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
    package var printable: String {
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

// MARK: Queue

/// Queues messages for standard error, which may block for any length of time: a terminal that was stopped
/// (Ctrl-S), a pager that is not scrolled, a connection that hangs.
///
/// Callers never block: the queue's own thread writes. If too much is waiting, further messages are dropped
/// and counted.
final class MessageQueue: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private let descriptor: Int32
    private var waiting: [String] = []
    private var byteCount = 0
    private var leftOut = 0
    private var isWriting = false
    private var hasThread = false
    private var isFinished = false

    private static let mostBytes = 64 << 10

    /// Creates an empty queue; its thread starts with the first message.
    init(descriptor: Int32 = STDERR_FILENO) { self.descriptor = descriptor }

    /// Adds a text. Safe in any thread; blocks only if the system has no thread left.
    /// - Parameter isPassing: whether to drop the text unless it can be written now.
    func add(_ text: String, isPassing: Bool = false) {
        let needsThread = monitor.withLock {
            if isPassing, isWriting || !waiting.isEmpty { return false }
            guard !isFinished, byteCount + text.utf8.count <= Self.mostBytes else {
                leftOut += 1
                return false
            }
            let omission =
                leftOut > 0
                ? "(\(Quantity.count(leftOut, "message")) left out: standard error was blocked)\n" : ""
            waiting.append(omission + text)
            (leftOut, byteCount) = (0, byteCount + omission.utf8.count + text.utf8.count)
            monitor.signal()
            defer { hasThread = true }
            return !hasThread
        }
        guard needsThread else { return }
        if let thread = WorkerThread(body: { [self] in run() }) {
            thread.detach()
        } else {
            monitor.withLock { hasThread = false }
            while write() {}
        }
    }

    /// Accepts no more messages, and waits a limited time for the queued ones to be written.
    func finish(patience: Duration) {
        let deadline = Instant.now + patience
        monitor.withLock {
            isFinished = true
            monitor.signal()
            while isWriting || !waiting.isEmpty, Instant.now < deadline {
                monitor.wait(until: deadline)
            }
        }
    }

    private func run() {
        while true {
            let isOver = monitor.withLock {
                while waiting.isEmpty, !isFinished { monitor.wait() }
                return waiting.isEmpty
            }
            if isOver { return }
            _ = write()
        }
    }

    /// Writes the oldest waiting message, without holding the lock.
    /// - Returns: false if the queue was empty.
    private func write() -> Bool {
        let text: String? = monitor.withLock {
            guard !waiting.isEmpty else { return nil }
            isWriting = true
            return waiting.removeFirst()
        }
        guard let text else { return false }
        _ = DescriptorWriter.write(text, to: descriptor)
        monitor.withLock {
            isWriting = false
            byteCount -= text.utf8.count
            monitor.signal()
        }
        return true
    }
}

// MARK: Descriptors

/// Writes text or bytes completely.
package enum DescriptorWriter {
    /// - Returns: the errno of a failed write, or nil.
    package static func write(_ text: String, to descriptor: Int32) -> Int32? {
        var text = text
        return text.withUTF8 { write(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    /// - Returns: the errno of a failed write, or nil.
    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return nil
    }
}

/// Descriptors 0, 1 and 2, which a careless parent may have closed.
package enum StandardDescriptors {
    /// Replaces closed descriptors with ones that fail on use: otherwise the next file or camera to be opened
    /// would get the number, and messages would be written to it.
    package static func fill() {
        for (descriptor, uselessMode) in [
            (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY),
        ] where fcntl(descriptor, F_GETFD) < 0 {
            // open(2) uses the lowest free number, which is this one.
            _ = open("/dev/null", uselessMode)
        }
    }
}

// MARK: JSON

/// Formats values as JSON.
package enum JSONText {
    /// Returns indented JSON with sorted keys and a final newline, or nil if a number is not finite.
    package static func of(_ value: some Encodable) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return nil }
        return String(decoding: data, as: UTF8.self) + "\n"
    }

    /// Returns JSON on one line, or nil if a number is not finite.
    package static func line(of value: some Encodable) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
