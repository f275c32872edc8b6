import Encoder
import Synchronization
import CamPlatform

/// Controls a running recording, from any thread. The encode thread carries out requests with the next
/// picture; triggers reach the writers' threads at once.
public final class RecordingControl: Sendable {
    private let wantsKeyframe = Atomic<Bool>(false)
    private let isPausedNow = Atomic<Bool>(false)
    /// When the latest pause began and ended, in nanoseconds of the clock.
    private let pauseBegin = Atomic<Int64>(.max)
    private let pauseEnd = Atomic<Int64>(.min)
    private let endsAtNextCut = Atomic<Bool>(false)
    private let triggers = Atomic<Int>(0)
    private let triggered = Mutex<[@Sendable () -> Void]>([])
    /// The capture time at which the latest event ends, in nanoseconds; `Int64.max` while the event lasts.
    private let eventEnd = Atomic<Int64>(.min)
    /// 0 for none.
    private let wantedBitRate = Atomic<Int>(0)
    private let wantedMaximum = Atomic<Int>(0)
    private let possibleRateChanges = Atomic<Int>(0)

    /// Creates a control without pending requests.
    public init() {}

    /// Makes the next frame a keyframe, in addition to the regular ones. Requests before that frame are
    /// merged.
    public func requestKeyframe() { wantsKeyframe.store(true, ordering: .relaxed) }

    /// Drops every picture before it is encoded, until `resume`. The recording's duration keeps running.
    public func pause() {
        guard !isPaused else { return }
        pauseBegin.store(Instant.now.nanoseconds, ordering: .relaxed)
        isPausedNow.store(true, ordering: .releasing)
    }

    /// Ends a pause; the next frame is a keyframe.
    public func resume() {
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
    public func endAtCut() { endsAtNextCut.store(true, ordering: .relaxed) }

    /// Whether the recording ends at its next cut.
    var endsAtCut: Bool { endsAtNextCut.load(ordering: .relaxed) }

    /// Whether the recording is paused.
    public var isPaused: Bool { isPausedNow.load(ordering: .relaxed) }

    /// The rates that the open encoders can change, and which of them without a keyframe.
    public var rateChanges: RateChanges {
        RateChanges(rawValue: possibleRateChanges.load(ordering: .relaxed))
    }

    func publishRateChanges(_ possible: RateChanges) {
        possibleRateChanges.store(possible.rawValue, ordering: .relaxed)
    }

    /// Changes the maximum rate in any window, from the next frame on.
    /// - Parameter bitRate: bits per second, at least the average.
    public func changeMaximumBitRate(to bitRate: Int) {
        wantedMaximum.store(max(1, bitRate), ordering: .relaxed)
    }

    /// Changes the average rate from the next frame on, which is a keyframe if the encoder needs one.
    /// - Parameter bitRate: bits per second, at least 1.
    public func changeBitRate(to bitRate: Int) { wantedBitRate.store(max(1, bitRate), ordering: .relaxed) }

    /// Triggers an event: outputs that keep pictures in memory write them and the following pictures.
    public func trigger() {
        triggers.wrappingAdd(1, ordering: .sequentiallyConsistent)
        for call in triggered.withLock({ $0 }) { call() }
    }

    /// Calls a function at each trigger, on the triggering thread; the function must not block.
    func whenTriggered(_ call: @escaping @Sendable () -> Void) { triggered.withLock { $0.append(call) } }

    /// Records that an event lasts: files of a ring do not end before `endEvent`.
    func holdEvent() { eventEnd.store(.max, ordering: .releasing) }

    /// Records that the event that lasted has ended with a picture.
    /// - Parameter time: the picture's capture time.
    func endEvent(at time: Instant) { eventEnd.store(time.nanoseconds, ordering: .releasing) }

    /// Whether an event lasted beyond a capture time. Writers lag behind the event's source, so the capture
    /// time counts, not the time of the call.
    func eventLasts(beyond time: Instant) -> Bool {
        time.nanoseconds < eventEnd.load(ordering: .acquiring)
    }

    /// The number of triggers so far.
    var triggerCount: Int { triggers.load(ordering: .sequentiallyConsistent) }

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
