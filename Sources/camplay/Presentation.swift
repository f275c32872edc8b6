import Decoder
import Network
import Threading
import Time

/// Passes pictures from the decoding thread to the displaying one.
///
/// A file's pictures wait for their time. Those of a live stream wait for their sound if it is heard; otherwise only
/// the latest is kept.
///
/// `@unchecked Sendable`: all mutable state is accessed with the lock held.
final class Presentation: @unchecked Sendable {
    private let monitor = Monitor()
    /// Wakes the decoding thread.
    private let wakeUp: WakeUp
    private let interruption: Interruption
    private var waiting = WaitingPictures()
    private var onChange: @Sendable () -> Void = {}
    private var onClockChange: @Sendable () -> Void = {}
    private var isFinished = false
    private var clock = PlaybackClock()
    private let isSeekable: Bool
    /// How far the viewer wants to seek, until the decoding thread does so.
    private var jump: Duration?
    /// Whether to show a picture despite a pause: the first one after a seek.
    private var showsNext = false
    private var current = Statistics()
    private var lateness = Duration.zero

    /// What happened to pictures, and to the stream.
    struct Statistics {
        /// Pictures taken for display.
        var shownCount = 0
        /// Pictures replaced by a later one before they could be displayed.
        var lateCount = 0
        /// Live pictures that were not shown because of a pause.
        var pausedCount = 0
        /// What has been received so far.
        var totals = StreamTotals()
    }

    /// - Parameters:
    ///   - interruption: raised when the viewer closes the window.
    ///   - isSeekable: whether the decoding thread can seek.
    init(interruption: Interruption, isSeekable: Bool = false) throws(PlayError) {
        (self.interruption, self.isSeekable) = (interruption, isSeekable)
        do throws(NetworkError) { wakeUp = try WakeUp() } catch { throw .noResources }
    }
}

extension Presentation {
    // MARK: The thread that decodes

    /// Waits until a picture is due, and shows it.
    /// - Parameters:
    ///   - due: the time since the first picture; nil for at once.
    ///   - moment: when it may be seen, without waiting for that here.
    ///   - totals: what has been received so far.
    func show(
        _ picture: consuming DecodedPicture, at due: Duration?, notBefore moment: Instant = .start,
        _ totals: StreamTotals
    ) {
        if let due, !wait(until: due) {
            monitor.withLock { current.lateCount += 1 }
            return
        }
        var incoming: DecodedPicture? = consume picture
        let isNews = monitor.withLock {
            current.totals = totals
            if let due { lateness = clock.lateness(of: due, now: .now) ?? lateness }
            if clock.isPaused, !showsNext {
                current.pausedCount += 1
                return false
            }
            showsNext = false
            let next = waiting.next
            current.lateCount += waiting.append(&incoming, at: moment, now: .now)
            return waiting.next != next
        }
        if isNews { change() }
    }

    /// How late the last picture of a file was.
    var currentLateness: Duration { monitor.withLock { lateness } }

    /// Keeps showing the last picture until a time since the first.
    func hold(until due: Duration) { _ = wait(until: due) }

    /// How far the viewer wants to seek; reported once, nil if there was no request.
    func takeJump() -> Duration? { monitor.withLock { jump.take() } }

    /// Restarts the clock, because the next picture comes from elsewhere in the file.
    func restart() {
        monitor.withLock {
            current.lateCount += waiting.removeAll()
            clock.restart(now: .now)
            (showsNext, lateness) = (clock.isPaused, .zero)
        }
        changeClock()
    }

    /// Notes that no more pictures will come. Those that wait are still shown, unless the viewer has quit.
    func finish() {
        monitor.withLock {
            isFinished = true
            if interruption.isRaised { current.lateCount += waiting.removeAll(after: .now) }
        }
        change()
    }

    private func change() {
        let notify = monitor.withLock { onChange }
        notify()
    }

    private func changeClock() {
        let notify = monitor.withLock { onClockChange }
        notify()
    }

    /// - Returns: false if the viewer or a signal ends the wait, including for a seek.
    private func wait(until due: Duration) -> Bool {
        while !interruption.isRaised {
            if monitor.withLock({ jump != nil }) { return false }
            let (remaining, begins): (Duration?, Bool) = monitor.withLock {
                let begins = clock.moment(of: due) == nil
                let remaining = clock.remaining(until: due, now: .now)
                return (clock.isPaused && !showsNext ? nil : remaining, begins && !clock.isPaused)
            }
            if begins { changeClock() }
            if let remaining, remaining <= .zero { return true }
            sleep(for: remaining)
        }
        return false
    }

    /// Waits until the viewer pauses, resumes, seeks or quits; nil for no time limit.
    private func sleep(for duration: Duration?) {
        let deadline = duration.map { Instant.now + $0 }
        if interruption.wait(for: wakeUp.descriptor, until: deadline) == .ready { wakeUp.sleep() }
    }
}

extension Presentation {
    // MARK: The thread that plays sound

    /// Whether the viewer has paused.
    var isPaused: Bool { monitor.withLock { clock.isPaused } }

    /// When something at a time of the file is due; nil before the first picture, and in a pause.
    func moment(of time: Duration) -> Instant? { monitor.withLock { clock.moment(of: time) } }

    /// Sets a callback for a clock that starts, stops or jumps; any thread may call it.
    func whenClockChanges(_ body: @escaping @Sendable () -> Void) {
        monitor.withLock { onClockChange = body }
    }
}

extension Presentation {
    // MARK: The thread that shows

    /// Sets a callback for new pictures and the end; any thread may call it.
    func whenChanged(_ body: @escaping @Sendable () -> Void) { monitor.withLock { onChange = body } }

    /// When the next picture may be seen; nil if none waits.
    var nextMoment: Instant? { monitor.withLock { waiting.next } }

    /// The next picture to show, returned once; nil if there is no new one.
    func take() -> DecodedPicture? {
        var taken: DecodedPicture?
        monitor.withLock {
            current.lateCount += waiting.take(into: &taken, now: .now)
            if taken != nil { current.shownCount += 1 }
        }
        return taken
    }

    /// Whether no more pictures will come.
    var hasEnded: Bool { monitor.withLock { isFinished } }

    /// What happened so far.
    var statistics: Statistics { monitor.withLock { current } }

    /// Stops taking pictures: a waiting one counts as late.
    func close() {
        monitor.withLock {
            current.lateCount += waiting.removeAll()
        }
    }

    /// Pauses at the shown picture, or resumes.
    func togglePause() {
        monitor.withLock {
            clock.togglePause(now: .now)
            if clock.isPaused { current.pausedCount += waiting.removeAll(after: .now) }
        }
        wakeUp.wake()
        changeClock()
    }

    /// Seeks forward or back by a time, if pictures come from a file.
    func seek(by step: Duration) {
        guard isSeekable else { return }
        monitor.withLock { jump = (jump ?? .zero) + step }
        wakeUp.wake()
    }

    /// Ends playing, on the viewer's request.
    func end() {
        interruption.raise()
        monitor.withLock { if isFinished { current.lateCount += waiting.removeAll(after: .now) } }
    }
}
