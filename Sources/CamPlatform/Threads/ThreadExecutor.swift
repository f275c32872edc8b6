/// Runs the jobs of an actor on a thread of its own, because they block: Swift's own threads are few.
package final class ThreadExecutor: SerialExecutor {
    private let board = Board()

    /// The jobs that wait, which the thread shares.
    private final class Board: @unchecked Sendable {
        // Safe to share: all mutable state is accessed with the monitor's lock held.
        private let monitor = Monitor()
        private var jobs: [UnownedJob] = []
        private var isOver = false

        func add(_ job: UnownedJob) {
            monitor.withLock {
                jobs.append(job)
                monitor.signal()
            }
        }

        func end() {
            monitor.withLock {
                isOver = true
                monitor.signal()
            }
        }

        /// Waits for a job; nil at the end.
        func next() -> UnownedJob? {
            monitor.withLock {
                while jobs.isEmpty, !isOver { monitor.wait() }
                return jobs.isEmpty ? nil : jobs.removeFirst()
            }
        }
    }

    /// Starts the thread; nil if the system allows no more.
    package init?() {
        // Whoever waits for a job keeps the executor alive, but the thread must not.
        let (board, place) = (board, UncheckedTransfer<UnownedSerialExecutor?>(nil))
        place.value = UnownedSerialExecutor(ordinary: self)
        let thread = WorkerThread {
            while let job = board.next(), let executor = place.value { job.runSynchronously(on: executor) }
        }
        guard let thread else { return nil }
        thread.detach()
    }

    deinit { board.end() }

    package func enqueue(_ job: consuming ExecutorJob) { board.add(UnownedJob(job)) }
}
