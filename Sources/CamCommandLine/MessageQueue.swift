import Glibc
import CamPlatform

/// Queues messages for standard error, which may block for any length of time: a terminal that was stopped
/// (Ctrl-S), a pager that nobody scrolls, a connection that hangs.
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

    /// The thread starts with the first message.
    init(descriptor: Int32 = STDERR_FILENO) { self.descriptor = descriptor }

    /// Adds a text. Safe in any thread; never waits, unless the system has no thread left.
    /// - Parameter isPassing: whether it is only worth showing now, and dropped if that is not possible.
    func add(_ text: String, isPassing: Bool = false) {
        let needsThread = monitor.withLock {
            if isPassing, isWriting || !waiting.isEmpty { return false }
            guard !isFinished, byteCount + text.utf8.count <= Self.mostBytes else {
                leftOut += 1
                return false
            }
            let omission = leftOut > 0 ? "(\(leftOut) messages left out: standard error was blocked)\n" : ""
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

    /// Gives waiting messages some time to be written. No more can be added.
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
    /// - Returns: false if there was nothing.
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
