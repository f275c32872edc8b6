import CamNetworking
import CamPlatform
import CamRecorder
import Glibc

/// Reports this run's readiness, progress and liveness to the service manager.
///
/// Does nothing unless the environment requests it (sd_notify(3), sd_watchdog_enabled(3)).
struct ServiceReport {
    private let manager: ServiceManager?
    /// The time between watchdog messages; nil if none are requested.
    private let watchdogInterval: Duration?
    private var isReady = false
    private var nextStatus = Instant.distantPast
    private var nextSign = Instant.distantPast
    private var progress = Progress(start: Instant.now)
    private var liveness = Liveness(frameInterval: .zero)
    private var lastCaptured = 0
    private var lastTries = 0
    private let program = ProgramFile()
    private var succession: Succession
    /// Whether the recording is to end at its next cut, because a newer version of the program waits.
    private(set) var isSuperseded = false

    private static let statusInterval = Duration.seconds(5)
    /// In microseconds; larger values are invalid.
    private static let longestWatchdog: Int64 = 1 << 48

    /// - Parameter succession: what to do once a newer version of the program is installed.
    init(succession: Succession) {
        self.succession = succession
        manager = Self.variable("NOTIFY_SOCKET").flatMap(ServiceManager.init)
        let isMeant = Self.variable("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
        // A quarter of the manager's timeout, so that only several failed liveness checks end the process.
        let wanted = isMeant ? Self.variable("WATCHDOG_USEC").flatMap(Int64.init) : nil
        watchdogInterval = wanted.map { .microseconds(min(max(4, $0), Self.longestWatchdog)) / 4 }
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Whether a service manager listens.
    var isWanted: Bool { manager != nil }

    /// The time after which to call `update` again; nil for never.
    var interval: Duration? {
        isWanted
            ? max(.milliseconds(1), min(Self.statusInterval, watchdogInterval ?? Self.statusInterval)) : nil
    }

    /// Reports that the recorder works, even if it still waits for its camera.
    mutating func wait(_ status: String) {
        report(noting(status))
        manager?.notify("WATCHDOG=1")
    }

    /// Records that the camera is open.
    /// - Parameters:
    ///   - frameInterval: the time between two frames.
    ///   - encodingInterval: the time between two recorded frames; nil if that is the same.
    ///   - succession: what to do once a newer version is installed, now that the source is known.
    mutating func begin(frameInterval: Duration, encodingInterval: Duration?, succession: Succession) {
        liveness = Liveness(frameInterval: frameInterval, encodingInterval: encodingInterval)
        self.succession = succession
    }

    /// Reports the recording's progress and whether it is alive.
    mutating func update(_ recording: Recording) {
        guard isWanted else { return }
        let now = Instant.now
        if !isReady || now >= nextStatus {
            report(status(of: recording))
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
        let status = isWaiting ? "waiting for the camera; so far \(line)" : line
        isSuperseded = isReplaced && succession.endsAtCut
        return noting(status)
    }

    private var isReplaced: Bool { program?.isReplaced == true }

    private func noting(_ status: String) -> String { isReplaced ? "\(status); \(succession.note)" : status }

    /// Reports that the recording is ending.
    func stop() { manager?.notify("STOPPING=1", "STATUS=finishing") }

    private mutating func report(_ status: String) {
        guard let manager else { return }
        if isReady {
            manager.notify("STATUS=\(status)")
        } else {
            manager.notify("READY=1", "STATUS=\(status)")
        }
        isReady = true
    }
}

/// The service manager that started this process and wants its status: systemd, by the protocol of sd_notify(3).
///
/// Undeliverable messages are dropped silently: there is no other recipient.
struct ServiceManager {
    private let address: DatagramAddress

    /// - Parameter address: the value of `NOTIFY_SOCKET`. Nil if it is not the address of a UNIX socket.
    init?(address: String) {
        guard let address = DatagramAddress(address) else { return nil }
        self.address = address
    }

    /// Sends assignments, one per line: `READY=1`, `STATUS=…`, `WATCHDOG=1`, `STOPPING=1`.
    func notify(_ assignments: String...) {
        address.send(assignments.joined(separator: "\n"), patience: .seconds(1))
    }
}
