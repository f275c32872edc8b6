import Decoder
import Network
import Threading
import Time

/// Passes pictures from the decoding thread to the displaying one.
///
/// A file's pictures wait for their time; of a live stream's the latest wins. `@unchecked Sendable`: everything
/// that changes does so under the lock.
final class Presentation: @unchecked Sendable {
    private let monitor = Monitor()
    /// Wakes the decoding thread.
    private let wakeUp: WakeUp
    private let interruption: Interruption
    private var picture: DecodedPicture?
    private var onChange: @Sendable () -> Void = {}
    private var isFinished = false
    private var clock = PlaybackClock()
    private let isSeekable: Bool
    /// How far the viewer wants to go on or back, until the decoding thread does so.
    private var jump: Duration?
    /// Whether a picture is to be shown in spite of a pause: the first one behind a jump.
    private var showsNext = false
    private var current = Statistics()
    private var lateness = Duration.zero

    /// What became of pictures, and of the stream.
    struct Statistics {
        /// Pictures taken for display.
        var shownCount = 0
        /// Pictures replaced by a later one before they could be displayed.
        var lateCount = 0
        /// Live pictures that came during a pause.
        var pausedCount = 0
        /// What came so far.
        var totals = StreamTotals()
    }

    /// - Parameters:
    ///   - interruption: raised when the viewer closes the window.
    ///   - isSeekable: whether the decoding thread takes jumps.
    init(interruption: Interruption, isSeekable: Bool = false) throws(PlayError) {
        (self.interruption, self.isSeekable) = (interruption, isSeekable)
        do throws(NetworkError) { wakeUp = try WakeUp() } catch { throw .noResources }
    }
}

extension Presentation {
    // MARK: The thread that decodes

    /// Shows a picture when it is due, and waits for that.
    /// - Parameters:
    ///   - due: the time since the first picture; nil for at once.
    ///   - totals: what came so far.
    func show(_ picture: consuming DecodedPicture, at due: Duration?, _ totals: StreamTotals) {
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
            swap(&self.picture, &incoming)
            let isLate = incoming != nil
            if isLate { current.lateCount += 1 }
            return !isLate
        }
        if isNews { change() }
    }

    /// How long after its time the last picture of a file was there.
    var currentLateness: Duration { monitor.withLock { lateness } }

    /// Leaves the last picture where it is until a time since the first.
    func hold(until due: Duration) { _ = wait(until: due) }

    /// How far the viewer wants to go on or back, once; nil where nobody asked.
    func takeJump() -> Duration? { monitor.withLock { jump.take() } }

    /// What is shown next comes from elsewhere in the file: its time begins now.
    func restart() {
        monitor.withLock {
            if picture.take() != nil { current.lateCount += 1 }
            clock.restart(now: .now)
            (showsNext, lateness) = (clock.isPaused, .zero)
        }
    }

    /// No more pictures come.
    func finish() {
        monitor.withLock { isFinished = true }
        change()
    }

    private func change() {
        let notify = monitor.withLock { onChange }
        notify()
    }

    /// - Returns: false where the viewer, or a signal, ends the wait, be it to go elsewhere.
    private func wait(until due: Duration) -> Bool {
        while !interruption.isRaised {
            if monitor.withLock({ jump != nil }) { return false }
            let remaining: Duration? = monitor.withLock {
                let remaining = clock.remaining(until: due, now: .now)
                return clock.isPaused && !showsNext ? nil : remaining
            }
            if let remaining, remaining <= .zero { return true }
            sleep(for: remaining)
        }
        return false
    }

    /// Until somebody pauses, goes on or ends; nil for as long as it takes.
    private func sleep(for duration: Duration?) {
        let deadline = duration.map { Instant.now + $0 }
        if interruption.wait(for: wakeUp.descriptor, until: deadline) == .ready { wakeUp.sleep() }
    }
}

extension Presentation {
    // MARK: The thread that shows

    /// Sets a callback for new pictures and the end; any thread may call it.
    func whenChanged(_ body: @escaping @Sendable () -> Void) { monitor.withLock { onChange = body } }

    /// The next picture to show, returned once; nil if there is no new one.
    func take() -> DecodedPicture? {
        var taken: DecodedPicture?
        monitor.withLock {
            swap(&picture, &taken)
            if taken != nil { current.shownCount += 1 }
        }
        return taken
    }

    /// Whether no more pictures come.
    var hasEnded: Bool { monitor.withLock { isFinished } }

    /// What happened so far.
    var statistics: Statistics { monitor.withLock { current } }

    /// Stops taking pictures: a waiting one counts as late.
    func close() {
        monitor.withLock {
            if picture.take() != nil { current.lateCount += 1 }
        }
    }

    /// Pauses at the shown picture, or resumes.
    func togglePause() {
        monitor.withLock { clock.togglePause(now: .now) }
        wakeUp.wake()
    }

    /// Goes on, or back, by a time where pictures come from a file.
    func seek(by step: Duration) {
        guard isSeekable else { return }
        monitor.withLock { jump = (jump ?? .zero) + step }
        wakeUp.wake()
    }

    /// The viewer has had enough.
    func end() { interruption.raise() }
}
