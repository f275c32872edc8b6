import Glibc
import Network
import Recorder
import Threading
import Time

/// What the service manager hears of this run: that it is ready, how it goes, and that it lives.
///
/// Silent where nobody asked for it, which the environment says (sd_notify(3), sd_watchdog_enabled(3)).
struct ServiceReport {
    private let manager: ServiceManager?
    /// The time between two signs of life; nil if none are wanted.
    private let watchdogInterval: Duration?
    private var isReady = false
    private var nextStatus = Instant.distantPast
    private var nextSign = Instant.distantPast
    private var progress = Progress(start: Instant.now)
    private var liveness = Liveness(frameInterval: .zero)
    private var lastCaptured = 0
    private var lastTries = 0

    private static let statusInterval = Duration.seconds(5)
    /// Microseconds; more than that is no interval.
    private static let longestWatchdog: Int64 = 1 << 48

    init() {
        manager = Self.variable("NOTIFY_SOCKET").flatMap(ServiceManager.init)
        let isMeant = Self.variable("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
        // A quarter of what the manager waits: it gives up a process after several looks that found it dead.
        let wanted = isMeant ? Self.variable("WATCHDOG_USEC").flatMap(Int64.init) : nil
        watchdogInterval = wanted.map { .microseconds(min(max(4, $0), Self.longestWatchdog)) / 4 }
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Whether somebody listens.
    var isWanted: Bool { manager != nil }

    /// The time after which `update` wants to be called again; nil for never.
    var interval: Duration? {
        isWanted
            ? max(.milliseconds(1), min(Self.statusInterval, watchdogInterval ?? Self.statusInterval)) : nil
    }

    /// The recorder works, though it may still wait for its camera.
    mutating func wait(_ status: String) {
        tell(status)
        manager?.notify("WATCHDOG=1")
    }

    /// The camera is there.
    /// - Parameter frameInterval: the time from a frame to the next.
    mutating func begin(frameInterval: Duration) { liveness = Liveness(frameInterval: frameInterval) }

    /// Says how far the recording is, and whether it lives.
    mutating func update(_ recording: Recording) {
        guard isWanted else { return }
        let now = Instant.now
        if !isReady || now >= nextStatus {
            tell(status(of: recording))
            nextStatus = now + Self.statusInterval
        }
        if let watchdogInterval, now >= nextSign {
            if liveness.isAlive(recording, at: now) { manager?.notify("WATCHDOG=1") }
            nextSign = now + watchdogInterval
        }
    }

    private mutating func status(of recording: Recording) -> String {
        let line = progress.line(recording)
        let (captured, tries) = (recording.counters[.captured], recording.counters[.sourceTries])
        let isWaiting = captured == lastCaptured && tries != lastTries
        (lastCaptured, lastTries) = (captured, tries)
        return isWaiting ? "waiting for the camera; so far \(line)" : line
    }

    /// The end has begun.
    func stop() { manager?.notify("STOPPING=1", "STATUS=finishing") }

    private mutating func tell(_ status: String) {
        guard let manager else { return }
        if isReady {
            manager.notify("STATUS=\(status)")
        } else {
            manager.notify("READY=1", "STATUS=\(status)")
        }
        isReady = true
    }
}
