import CamNetworking
import CamPlatform
import Decoder

/// Passes pictures from the decoding thread to the displaying one.
///
/// A file's pictures wait for their time. Live pictures wait for their sound if it is heard; otherwise only
/// the latest is kept.
///
/// `@unchecked Sendable`: all mutable state is accessed with the lock held.
final class Presentation: @unchecked Sendable {
    private let monitor = Monitor()
    /// Wakes the decoding thread.
    private let wakeUp: EventFD
    private let cancellation: CancellationFlag
    private var waiting = WaitingPictures()
    private var onChange: @Sendable () -> Void = {}
    private var onClockChange: @Sendable () -> Void = {}
    private var isFinished = false
    private var clock = PlaybackClock()
    private let isSeekable: Bool
    /// The requested seek, until the decoding thread takes it.
    private var jump: Duration?
    /// Whether to show a picture despite a pause: the first one after a seek.
    private var showsNext = false
    private var current = Statistics()
    private var lateness = Duration.zero

    /// Counts of pictures, and totals of the stream.
    struct Statistics {
        /// Pictures taken for display.
        var shownCount = 0
        /// Pictures replaced by a later one before they could be displayed.
        var lateCount = 0
        /// Live pictures that were not shown because of a pause.
        var pausedCount = 0
        /// The counts so far.
        var totals = StreamTotals()
    }

    /// - Parameters:
    ///   - cancellation: raised when the viewer closes the window.
    ///   - isSeekable: whether the decoding thread can seek.
    init(cancellation: CancellationFlag, isSeekable: Bool = false) throws(PlayError) {
        (self.cancellation, self.isSeekable) = (cancellation, isSeekable)
        do throws(NetworkError) { wakeUp = try EventFD() } catch { throw .noResources }
    }
}

extension Presentation {
    // MARK: The thread that decodes

    /// Waits until a picture is due, and shows it.
    /// - Parameters:
    ///   - due: the time since the first picture; nil for at once.
    ///   - moment: the earliest time to display the picture; the call does not wait for it.
    ///   - totals: the stream's totals so far.
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

    /// The requested seek, returned once; nil without a request.
    func takeJump() -> Duration? { monitor.withLock { jump.take() } }

    /// Restarts the clock, because the next picture comes from elsewhere in the file.
    func restart() {
        monitor.withLock {
            current.lateCount += waiting.removeAll()
            clock.restart()
            (showsNext, lateness) = (clock.isPaused, .zero)
        }
        changeClock()
    }

    /// Records that no more pictures will come. Waiting pictures are still shown, unless the viewer has quit.
    func finish() {
        monitor.withLock {
            isFinished = true
            if cancellation.isRaised { current.lateCount += waiting.removeAll(after: .now) }
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
        while !cancellation.isRaised {
            if monitor.withLock({ jump != nil }) { return false }
            let (end, isNews) = monitor.withLock { moment(ofPictureDue: due) }
            if isNews { changeClock() }
            if end <= .now { return true }
            sleep(until: end)
        }
        return false
    }

    /// When to show a picture, or to ask again; and whether the clock has begun to run. The lock is held.
    private func moment(ofPictureDue due: Duration) -> (Instant, isNews: Bool) {
        let now = Instant.now
        let stood = clock.moment(of: due) == nil
        if let end = clock.holdEnd, end <= now { clock.release(now: now, after: .zero) }
        let isFirst = !clock.hasBegun
        let end = now + clock.remaining(until: due, now: now)
        let isNews = stood && !clock.stands
        if clock.isPaused { return (showsNext ? end : .distantFuture, isNews) }
        return (isFirst ? end : clock.holdEnd ?? end, isNews)
    }

    /// Waits until the viewer pauses, resumes, seeks or quits, or the loudspeaker is ready.
    private func sleep(until end: Instant) {
        let deadline = end == .distantFuture ? nil : end
        if cancellation.wait(for: wakeUp.descriptor, until: deadline) == .ready { wakeUp.sleep() }
    }
}

extension Presentation {
    // MARK: The thread that plays sound

    /// Whether the viewer has paused.
    var isPaused: Bool { monitor.withLock { clock.isPaused } }

    /// When a time of the file is due; nil before the first picture, and in a pause.
    func moment(of time: Duration) -> Instant? { monitor.withLock { clock.moment(of: time) } }

    /// Holds the clock at the first picture until `beginTime`, for at most `patience`. Call it before the
    /// first picture.
    func holdTime(patience: Duration) { monitor.withLock { clock.hold(patience: patience) } }

    /// Releases the clock.
    /// - Parameter delay: the time until the loudspeaker is heard.
    func beginTime(after delay: Duration) {
        let isNews = monitor.withLock {
            guard clock.isHeld else { return false }
            clock.release(now: .now, after: delay)
            return true
        }
        guard isNews else { return }
        wakeUp.wake()
        changeClock()
    }

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

    /// The statistics so far.
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
        cancellation.raise()
        monitor.withLock { if isFinished { current.lateCount += waiting.removeAll(after: .now) } }
    }
}

// MARK: Totals

/// Totals of what a stream has delivered so far, for the statistics line.
struct StreamTotals: Equatable {
    /// Bytes received.
    var bytes = 0
    var losses = 0
    /// Pictures left out because of losses, frozen or lost.
    var missing = 0
    /// Pictures left out to catch up.
    var skipped = 0
}

// MARK: Queue

/// Decoded pictures that wait to be shown, each for its moment, oldest first.
struct WaitingPictures: ~Copyable {
    private var slots = InlineArray<16, Slot> { _ in Slot() }
    private var first = 0
    private(set) var count = 0

    /// The maximum number of waiting pictures, which are large. Beyond it the oldest is due at once; the
    /// remaining slots give the window time to take it.
    static let most = 12

    private struct Slot: ~Copyable {
        var picture: DecodedPicture?
        var moment = Instant.start
    }

    /// When the next picture is due; nil if none waits.
    var next: Instant? { count > 0 ? slots[first].moment : nil }

    /// Adds a picture. A picture that is already due replaces all waiting ones; without room it replaces the
    /// oldest.
    /// - Parameters:
    ///   - picture: nil afterwards.
    ///   - moment: when the picture is due, which is never before the waiting ones.
    /// - Returns: how many were dropped.
    mutating func append(_ picture: inout DecodedPicture?, at moment: Instant, now: Instant) -> Int {
        let moment = count > 0 ? max(moment, slots[place(count - 1)].moment) : moment
        var dropped = 0
        while count > 0, moment <= now || count == slots.count {
            removeFirst()
            dropped += 1
        }
        swap(&slots[place(count)].picture, &picture)
        slots[place(count)].moment = moment
        count += 1
        if count > Self.most { slots[first].moment = min(slots[first].moment, now) }
        return dropped
    }

    /// Takes the latest picture that is due.
    /// - Returns: how many before it were dropped.
    mutating func take(into picture: inout DecodedPicture?, now: Instant) -> Int {
        var taken = 0
        while let next, next <= now {
            swap(&slots[first].picture, &picture)
            removeFirst()
            taken += 1
        }
        return max(0, taken - 1)
    }

    /// Drops the pictures that are due later.
    /// - Returns: how many.
    mutating func removeAll(after now: Instant) -> Int {
        let before = count
        while count > 0, slots[place(count - 1)].moment > now {
            slots[place(count - 1)].picture = nil
            count -= 1
        }
        return before - count
    }

    /// Drops every picture.
    /// - Returns: how many.
    mutating func removeAll() -> Int {
        let before = count
        while count > 0 { removeFirst() }
        return before
    }

    private mutating func removeFirst() {
        slots[first].picture = nil
        first = place(1)
        count -= 1
    }

    private func place(_ index: Int) -> Int { (first + index) % slots.count }
}
