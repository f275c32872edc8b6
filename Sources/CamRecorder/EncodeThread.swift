import CamPlatform

/// The encode thread, replaced whenever it hangs in a driver.
final class EncodeThread: @unchecked Sendable {
    // Safe to share: mutable state is accessed with the lock held, except `detector`, which belongs to the
    // watchdog, and `watchdog` itself, which belongs to the creator.
    private let stage: EncodeStage
    private let monitor = Monitor()
    private var isFinished = false
    private var abandonedCount = 0
    private var detector: CallWatch.Watchdog
    private var watchdog: WorkerThread?
    private let isWatched: Bool

    private static let tick = Duration.seconds(1)

    /// - Parameter isWatched: false if the caller calls `look` itself.
    init(_ stage: EncodeStage, isWatched: Bool = true) {
        self.stage = stage
        self.isWatched = isWatched
        detector = CallWatch.Watchdog(stage.watch)
    }

    /// Starts the thread and its watchdog.
    /// - Returns: false if the system allows no more threads.
    func start() -> Bool {
        guard startWorker({ $0.run() }) else {
            finish()
            return false
        }
        // Without a watchdog a hang goes unnoticed; everything else still works.
        if isWatched { watchdog = WorkerThread { self.watch() } }
        return true
    }

    /// Waits until everything is encoded, but not for hung threads.
    func join() {
        monitor.withLock {
            while !isFinished { monitor.wait() }
        }
        if let watchdog = watchdog.take() { watchdog.join() }
    }

    /// Whether everything is encoded.
    var hasFinished: Bool { monitor.withLock { isFinished } }

    /// Whether a thread still hangs, in which case exit handlers may hang too.
    var hasAbandoned: Bool { monitor.withLock { abandonedCount > 0 } }

    /// Checks for a hang; the watchdog calls it once a second.
    func look() {
        guard detector.tick() else { return }
        monitor.withLock { abandonedCount += 1 }
        if startWorker({ $0.resumeAfterHang() }) { return }
        stage.giveUpAfterHang()
        finish()
    }

    private func watch() {
        while !hasFinished(by: .now + Self.tick) { look() }
    }

    private func hasFinished(by time: Instant) -> Bool {
        monitor.withLock {
            while !isFinished, .now < time { monitor.wait(until: time) }
            return isFinished
        }
    }

    private func startWorker(_ work: @escaping @Sendable (EncodeStage) -> Void) -> Bool {
        guard
            let worker = WorkerThread(body: { [self] in
                work(stage)
                finish()
            })
        else { return false }
        worker.detach()
        return true
    }

    private func finish() {
        monitor.withLock {
            isFinished = true
            monitor.signal()
        }
    }
}
