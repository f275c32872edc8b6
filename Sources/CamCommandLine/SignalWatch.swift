import Glibc
import Synchronization
import CamPlatform

/// Turns SIGINT, SIGTERM and SIGHUP into a descriptor that can be polled, and SIGUSR1 and SIGUSR2 into calls.
///
/// The signals are blocked in every thread, and one thread waits for them: nothing runs in a handler. Until
/// work begins, a signal ends the process at once, because there is nothing to lose. After that, the first
/// signal requests a clean end. A further one, at least half a second later, ends the process at once; the
/// delay is for timeout(1), which signals the process and its group. A signal that the parent process ignores
/// (nohup, a shell's background job) stays ignored.
package final class SignalWatch: Sendable {
    /// Raised by the first signal once work has begun.
    package let cancellation: CancellationFlag
    private let phase = Atomic<Int>(Phase.opening)
    private let program: String
    /// The handlers of SIGUSR1 and SIGUSR2; a signal without a handler is not watched.
    private let userSignals: [Int32: @Sendable () -> Void]

    /// How long the last message may take to write.
    private static let lastPatience = Duration.milliseconds(200)
    /// How long after the first signal a further one counts as the same request.
    private static let sameWish = Duration.milliseconds(500)

    private enum Phase {
        static let opening = 0
        static let working = 1
    }

    /// Blocks SIGUSR1 and SIGUSR2, which would end the process, until a watch handles them. Call it first in
    /// a program: the parent may send one at any time.
    package static func holdUserSignals() {
        var mask = sigset_t()
        sigemptyset(&mask)
        sigaddset(&mask, SIGUSR1)
        sigaddset(&mask, SIGUSR2)
        pthread_sigmask(SIG_BLOCK, &mask, nil)
    }

    /// Starts the watch; nil if the system has no thread or descriptor left. Call it before creating any
    /// other thread.
    /// - Parameters:
    ///   - program: the name that begins its message.
    ///   - userSignals: handlers of SIGUSR1 and SIGUSR2, by number, which the thread of the watch calls.
    package init?(program: String, userSignals: [Int32: @Sendable () -> Void] = [:]) {
        guard let cancellation = CancellationFlag() else { return nil }
        self.cancellation = cancellation
        self.program = program
        self.userSignals = userSignals
        // The failing calls report broken pipes and full quotas.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        // If the parent ignored SIGCHLD, waitpid(2) would not report how a child process ended.
        signal(SIGCHLD, SIG_DFL)
        var mask = mask()
        pthread_sigmask(SIG_BLOCK, &mask, nil)
        guard let thread = WorkerThread(body: { [self] in watch() }) else { return nil }
        thread.detach()
    }

    /// From now on the first signal requests a clean end.
    package func workBegins() { phase.store(Phase.working, ordering: .releasing) }

    private func mask() -> sigset_t {
        var mask = sigset_t()
        sigemptyset(&mask)
        for number in [SIGINT, SIGTERM, SIGHUP] + userSignals.keys where !Self.isIgnored(number) {
            sigaddset(&mask, number)
        }
        return mask
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // SIG_IGN is the address 1.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    private func watch() {
        var mask = mask()
        var firstTime: Instant?
        while true {
            var number: Int32 = 0
            guard sigwait(&mask, &number) == 0 else { continue }
            if let act = userSignals[number] {
                act()
            } else if phase.load(ordering: .acquiring) == Phase.opening {
                _exit(128 + number)
            } else if let firstTime {
                guard .now - firstTime >= Self.sameWish else { continue }
                // Standard error may be blocking the clean end, so this message must not block.
                let queue = MessageQueue()
                queue.add("\(program): stopped immediately; unwritten data is lost\n")
                queue.finish(patience: Self.lastPatience)
                _exit(128 + number)
            } else {
                firstTime = .now
                cancellation.raise()
            }
        }
    }
}
