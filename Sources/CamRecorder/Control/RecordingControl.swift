import Encoder
import Synchronization
import CamPlatform

/// Controls a running recording, from any thread. The encode thread carries out requests with the next
/// picture; triggers reach the writers' threads at once.
package final class RecordingControl: Sendable {
    private let wantsKeyframe = Atomic<Bool>(false)
    private let isPausedNow = Atomic<Bool>(false)
    /// When the latest pause began and ended, in nanoseconds of the clock.
    private let pauseBegin = Atomic<Int64>(.max)
    private let pauseEnd = Atomic<Int64>(.min)
    private let endsAtNextCut = Atomic<Bool>(false)
    private let triggers = Mutex(Triggers())
    /// 0 for none.
    private let wantedBitRate = Atomic<Int>(0)
    private let wantedMaximum = Atomic<Int>(0)
    private let possibleRateChanges = Atomic<Int>(0)

    private struct Triggers {
        var count = 0
        var latest: EventTrigger?
        var calls: [@Sendable (EventTrigger) -> Void] = []
        var motionCalls: [@Sendable (_ duration: Duration?) -> Void] = []
    }

    /// Creates a control without pending requests.
    package init() {}

    /// Makes the next frame a keyframe, in addition to the regular ones. Requests before that frame are
    /// merged.
    package func requestKeyframe() { wantsKeyframe.store(true, ordering: .relaxed) }

    /// Drops every picture before it is encoded, until `resume`. The recording's duration keeps running.
    package func pause() {
        guard !isPaused else { return }
        pauseBegin.store(Instant.now.nanoseconds, ordering: .relaxed)
        isPausedNow.store(true, ordering: .releasing)
    }

    /// Ends a pause; the next frame is a keyframe.
    package func resume() {
        guard isPaused else { return }
        pauseEnd.store(Instant.now.nanoseconds, ordering: .relaxed)
        isPausedNow.store(false, ordering: .releasing)
    }

    /// Whether pictures and sound captured at a recent time are recorded: not during a pause.
    func records(_ time: Instant) -> Bool {
        let isPaused = isPausedNow.load(ordering: .acquiring)
        if time.nanoseconds < pauseBegin.load(ordering: .relaxed) { return true }
        return !isPaused && time.nanoseconds >= pauseEnd.load(ordering: .relaxed)
    }

    /// Ends the recording where its outputs would begin new files. Cannot be withdrawn.
    package func endAtCut() { endsAtNextCut.store(true, ordering: .relaxed) }

    /// Whether the recording ends at its next cut.
    var endsAtCut: Bool { endsAtNextCut.load(ordering: .relaxed) }

    /// Whether the recording is paused.
    ///
    /// Acquired, because the thread that ends a pause hands on when it began, even if another thread began it.
    package var isPaused: Bool { isPausedNow.load(ordering: .acquiring) }

    /// The rates that the open encoders can change, and which of them without a keyframe.
    package var rateChanges: RateChanges {
        RateChanges(rawValue: possibleRateChanges.load(ordering: .relaxed))
    }

    func publishRateChanges(_ possible: RateChanges) {
        possibleRateChanges.store(possible.rawValue, ordering: .relaxed)
    }

    /// Changes the maximum rate in any window, from the next frame on.
    /// - Parameter bitRate: bits per second, at least the average.
    package func changeMaximumBitRate(to bitRate: Int) {
        wantedMaximum.store(max(1, bitRate), ordering: .relaxed)
    }

    /// Changes the average rate from the next frame on, which is a keyframe if the encoder needs one.
    /// - Parameter bitRate: bits per second, at least 1.
    package func changeBitRate(to bitRate: Int) { wantedBitRate.store(max(1, bitRate), ordering: .relaxed) }

    /// Triggers an event: outputs that keep pictures in memory write them and the following pictures.
    package func trigger() { trigger(EventTrigger(event: nil)) }

    /// Triggers an event that lasts until its end is known.
    func trigger(_ trigger: EventTrigger) {
        let calls = triggers.withLock {
            $0.count += 1
            $0.latest = EventTrigger(event: trigger.event ?? $0.latest?.event)
            return $0.calls
        }
        for call in calls { call(trigger) }
    }

    /// Calls a function at each trigger, on the triggering thread; the function must not block.
    package func whenTriggered(_ call: @escaping @Sendable (EventTrigger) -> Void) {
        triggers.withLock { $0.calls.append(call) }
    }

    /// Calls a function when motion begins, and with its duration when it ends, on the encode thread; the function
    /// must not block.
    package func whenMotionChanges(_ call: @escaping @Sendable (_ duration: Duration?) -> Void) {
        triggers.withLock { $0.motionCalls.append(call) }
    }

    /// Notes that motion began or ended.
    /// - Parameter duration: how long it lasted; nil if it began.
    func noteMotion(_ duration: Duration?) {
        for call in triggers.withLock({ $0.motionCalls }) { call(duration) }
    }

    /// The number of triggers so far.
    var triggerCount: Int { triggers.withLock { $0.count } }

    /// The latest trigger, with the latest lasting event; nil if there was none.
    var latestTrigger: EventTrigger? { triggers.withLock { $0.latest } }

    /// Returns whether a keyframe was requested, and clears the request.
    func takeKeyframe() -> Bool { wantsKeyframe.exchange(false, ordering: .relaxed) }

    /// Returns the maximum rate requested since the last call, or nil.
    func takeMaximumBitRate() -> Int? {
        let rate = wantedMaximum.exchange(0, ordering: .relaxed)
        return rate == 0 ? nil : rate
    }

    /// Returns the average rate requested since the last call, or nil.
    func takeBitRate() -> Int? {
        let rate = wantedBitRate.exchange(0, ordering: .relaxed)
        return rate == 0 ? nil : rate
    }
}

// MARK: Events

/// A request to write what rings keep, and what follows.
package struct EventTrigger: Sendable {
    /// The event that lasts; nil if the trigger is a moment.
    let event: LastingEvent?

    /// Whether a user or a program triggered, and not motion.
    package var isRequest: Bool { event == nil }
}

/// An event whose end becomes known only later: a ring's file does not end before it.
///
/// Each event has its own end, and travels with its triggers: a writer that lags behind may still write the event
/// before.
final class LastingEvent: Sendable {
    /// The capture time at which it ends, in nanoseconds; `Int64.max` while it lasts.
    private let end = Atomic<Int64>(.max)

    /// Records that the event has ended with a picture.
    /// - Parameter time: the picture's capture time.
    func end(at time: Instant) { end.store(time.nanoseconds, ordering: .releasing) }

    /// Whether the event lasted beyond a capture time. Writers lag behind the event's source, so the capture
    /// time counts, not the time of the call.
    func lasts(beyond time: Instant) -> Bool { time.nanoseconds < end.load(ordering: .acquiring) }
}
