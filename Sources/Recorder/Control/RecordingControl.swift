import Encoder
import Synchronization

/// What can be asked of a recording while it runs, from any thread. The encode thread carries it out with the
/// next picture, triggers the writers' threads at once.
public final class RecordingControl: Sendable {
    private let wantsKeyframe = Atomic<Bool>(false)
    private let isPausedNow = Atomic<Bool>(false)
    private let triggers = Atomic<Int>(0)
    private let triggered = Mutex<[@Sendable () -> Void]>([])
    /// 0 for none.
    private let wantedBitRate = Atomic<Int>(0)
    private let wantedMaximum = Atomic<Int>(0)
    private let possibleRateChanges = Atomic<Int>(0)

    /// Nothing is asked for yet.
    public init() {}

    /// Makes the next frame a keyframe, in addition to the regular ones. Several wishes before a frame are one.
    public func requestKeyframe() { wantsKeyframe.store(true, ordering: .relaxed) }

    /// Gives up every picture before it is encoded, until `resume`. The recording's duration goes on.
    public func pause() { isPausedNow.store(true, ordering: .relaxed) }

    /// Ends a pause; the next frame is a keyframe.
    public func resume() { isPausedNow.store(false, ordering: .relaxed) }

    /// Whether pictures are given up.
    public var isPaused: Bool { isPausedNow.load(ordering: .relaxed) }

    /// Which rates can be changed, and which of them without a keyframe: what the open encoders can.
    public var rateChanges: RateChanges {
        RateChanges(rawValue: possibleRateChanges.load(ordering: .relaxed))
    }

    func tellRateChanges(_ possible: RateChanges) {
        possibleRateChanges.store(possible.rawValue, ordering: .relaxed)
    }

    /// Holds windows to another maximum from the next frame on.
    /// - Parameter bitRate: bits a second, at least the average.
    public func changeMaximumBitRate(to bitRate: Int) {
        wantedMaximum.store(max(1, bitRate), ordering: .relaxed)
    }

    /// Codes at another average rate from the next frame on, which is a keyframe where the encoder needs one.
    /// - Parameter bitRate: bits a second, at least 1.
    public func changeBitRate(to bitRate: Int) { wantedBitRate.store(max(1, bitRate), ordering: .relaxed) }

    /// Something happened: outputs that keep pictures in memory write them, and what follows.
    public func trigger() {
        triggers.wrappingAdd(1, ordering: .sequentiallyConsistent)
        for call in triggered.withLock({ $0 }) { call() }
    }

    /// Has a function called at each trigger, on the thread that tells of it; it is not to wait for anything.
    func whenTriggered(_ call: @escaping @Sendable () -> Void) { triggered.withLock { $0.append(call) } }

    /// How often something has happened.
    var triggerCount: Int { triggers.load(ordering: .sequentiallyConsistent) }

    /// Whether a keyframe was asked for, which is then fulfilled.
    func takeKeyframe() -> Bool { wantsKeyframe.exchange(false, ordering: .relaxed) }

    /// The maximum that was asked for since the last call.
    func takeMaximumBitRate() -> Int? {
        let rate = wantedMaximum.exchange(0, ordering: .relaxed)
        return rate == 0 ? nil : rate
    }

    /// The rate that was asked for since the last call.
    func takeBitRate() -> Int? {
        let rate = wantedBitRate.exchange(0, ordering: .relaxed)
        return rate == 0 ? nil : rate
    }
}
