import Bitstream
import Encoder
import Output
import Pictures
import Threading

/// Is told that an encoder failed and another was opened, and how often that was not told since the last time.
public typealias EncoderRestartReport = (_ cause: EncoderError, _ untold: Int) -> Void

/// One codec's part of the encode thread's work: its encoder, its keyframes and restarts, and the outputs that
/// take its stream. Belongs to the encode thread, and to whoever has joined it.
final class EncodeTrack {
    let counters = Counters<EncoderCounter>()
    /// Why the encoder failed for good.
    private(set) var error: EncoderError?
    /// Nobody takes access units any more, or none can be made.
    private(set) var isOver = false
    /// From the earliest to the latest moment of capture among the access units, in nanoseconds.
    private(set) var span: ClosedRange<Int64>?
    /// Nanoseconds in the span in which the recording paused.
    private(set) var pausedTime: Int64 = 0
    /// What the first access unit's VUI says.
    private(set) var statedRate: Double?

    private let outputs: [RecordingOutput]
    private let provider: any EncoderProvider
    private let reportRestart: EncoderRestartReport?
    private let watch: CallWatch
    private let clock: any RestartClock
    private var encoder: (any PictureEncoder)?
    private var policy: KeyframePolicy
    private var rate = RateRecord()
    private var encodedBits = 0
    /// When the outputs begin another file.
    private var segments: SegmentSchedule?
    private var restarts = RestartLimit()
    private var messages = MessageLimit()
    /// Frames given to the encoder that have come to no end yet.
    private var framesInEncoder = 0
    /// The picture at hand was given to the encoder.
    private var isPictureTaken = false

    init(
        _ track: RecordingTrack, outputs: [RecordingOutput], clock: any RestartClock, watch: CallWatch
    ) {
        provider = track.provider
        encoder = track.encoder
        reportRestart = track.reportRestart
        segments = track.segments
        policy = KeyframePolicy(interval: provider.keyframeInterval)
        self.outputs = outputs
        self.clock = clock
        self.watch = watch
        rate.begin(track.encoder.ratePromise)
    }

    /// The standard that its encoders code by.
    var codec: Codec { provider.codec }

    /// The encoder in use.
    var choice: EncoderChoice? { provider.choice }

    /// The number that the next frame will have.
    var frameNumber: Int { policy.frameNumber }

    /// How often it had to wait for an output.
    var waits: Int {
        var count = 0
        for output in outputs { count += output.counters[.waits] }
        return count
    }

    /// The recording paused for so many nanoseconds.
    func skipTime(_ duration: Int64) {
        if frameNumber > 0 { pausedTime += duration }
    }

    /// How its bits were spread. To be read after the encode thread has ended.
    func rateOutcome(seconds: Double?) -> RecordingOutcome.Rate {
        rate.outcome(bits: encodedBits, seconds: seconds)
    }

    /// Makes the next frame a keyframe, in addition to the regular ones.
    func requestKeyframe() { policy.request() }

    /// Which rates can be changed now.
    var rateChanges: RateChanges { encoder?.rateChanges ?? [] }

    /// Codes at another rate from the next picture on: few encoders change the rate while they are open, and in
    /// another session that picture is an IDR. Between pictures only.
    func changeRate(_ change: RateChange) {
        guard !isOver, let encoder else { return }
        if provider.change(change) {
            rate.begin(encoder.ratePromise)
        } else {
            policy.request()
            openAnother()
        }
    }

    /// Goes on in another session, whose first picture has to be an IDR. Between pictures only.
    private func openAnother() {
        do throws(EncoderError) {
            try drain()
            // The new session may need what the old one holds.
            closeEncoder()
            try openEncoder()
        } catch {
            rebuild(after: error)
        }
    }

    private func openEncoder() throws(EncoderError) {
        encoder = try provider.open(watch)
        rate.begin(encoder?.ratePromise)
    }

    /// The camera gives other than its nominal rate, and most encoders count frames for time: with a regular
    /// keyframe one begins that knows.
    private func followFrameRate(_ buffer: borrowing PixelBuffer) {
        guard let encoder, encoder.wantsAnotherSession,
            policy.isRegular(at: buffer.timestamp, frameDuration: buffer.format.frameRate.frameDuration)
        else { return }
        openAnother()
    }

    /// No more pictures of this format come: takes what the encoder holds back, and closes it. Between pictures
    /// only, and `beginSource` has to follow.
    func endSource() {
        guard !isOver else { return }
        do throws(EncoderError) { try drain() } catch { policy.restart(after: counters[.encoded]) }
        countLostFrames()
        closeEncoder()
    }

    /// Codes pictures of another format from now on, the first as an IDR, and tells the outputs.
    func beginSource(_ format: PictureFormat) {
        guard !isOver else { return }
        provider.follow(format)
        policy.request()
        do throws(EncoderError) { try openEncoder() } catch { rebuild(after: error) }
        guard encoder != nil else { return }
        let stream = StreamDescription(provider)
        for output in outputs { output.beginStream(stream) }
    }

    /// What became of a picture.
    enum Verdict {
        case taken
        /// Nothing can be decoded from it yet, or the encoder takes no more.
        case unused
        /// Its data is damaged, for every encoder alike.
        case damaged(EncoderError)
    }

    /// Encodes a picture; `endPicture` has to follow.
    func encode(_ buffer: borrowing PixelBuffer) -> Verdict {
        guard !isOver else { return .unused }
        followFrameRate(buffer)
        guard !isOver, let encoder else { return .unused }
        if segments?.enters(number: policy.frameNumber, timestamp: buffer.timestamp) == true {
            policy.request()
        }
        do throws(EncoderError) {
            isPictureTaken = true
            framesInEncoder += 1
            let kind = policy.kind(
                at: buffer.timestamp, frameDuration: buffer.format.frameRate.frameDuration)
            try code(buffer, as: kind, with: encoder)
            policy.advance(kind, at: buffer.timestamp)
            try forwardAccessUnits()
        } catch {
            switch error.recovery {
            case .skipFrame:
                framesInEncoder -= 1
                isPictureTaken = false
                if case .beforeIDR = error.kind { return .unused }
                return .damaged(error)
            case .rebuildEncoder: rebuild(after: error)
            case .stop: fail(error)
            }
        }
        return .taken
    }

    /// Every encoder has seen the picture.
    /// - Parameter isLost: it counts as damaged or dropped already, whether it was encoded here or not.
    func endPicture(isLost: Bool) {
        encoder?.releasePicture()
        if !isPictureTaken, !isLost { counters.add(to: .unused) }
        isPictureTaken = false
    }

    /// No more pictures come: takes what the encoder holds back, and tells the outputs.
    func finish() {
        if !isOver {
            do throws(EncoderError) { try drain() } catch { fail(error) }
        }
        close()
    }

    /// Ends the track for a reason.
    func fail(_ error: EncoderError) {
        guard !isOver else { return }
        self.error = error
        // What the encoder holds back may still come out; that it does not changes nothing any more.
        if error.recovery == .stop { try? drain() }
        close()
    }

    private func close() {
        isOver = true
        countLostFrames()
        for output in outputs { output.close() }
        closeEncoder()
    }

    private func forwardAccessUnits() throws(EncoderError) {
        while let unit = try nextAccessUnit() {
            framesInEncoder -= 1
            counters.add(to: .encoded)
            rate.add(unit)
            encodedBits += unit.count * 8
            if span == nil { begin(with: unit) }
            span =
                min(span?.lowerBound ?? .max, unit.timestamp)...max(span?.upperBound ?? .min, unit.timestamp)
            var isWanted = false
            for output in outputs where output.accept(unit) { isWanted = true }
            if !isWanted { isOver = true }
        }
    }

    private func begin(with unit: AccessUnit) {
        statedRate = unit.statedFrameRate?.framesPerSecond
        segments?.anchor(at: unit.timestamp)
    }

    private func drain() throws(EncoderError) {
        try sendEnd()
        try forwardAccessUnits()
    }

    /// What is still in the encoder will never come out.
    private func countLostFrames() {
        counters.add(framesInEncoder, to: .droppedByEncoder)
        framesInEncoder = 0
    }

    /// Closes the failed session and opens a new one, whose first frame is an IDR. Where the recording is to
    /// end meanwhile there is none any more.
    private func rebuild(after failure: EncoderError) {
        countLostFrames()
        policy.restart(after: counters[.encoded])
        closeEncoder()
        let cause = failure
        var failure = failure
        while restarts.allowsAnother(at: clock.now) || provider.giveUpDrivers() {
            if let end = restarts.pause(at: clock.now), clock.wait(until: end) { return }
            restarts.count(at: clock.now)
            counters.add(to: .restarts)
            do throws(EncoderError) {
                try openEncoder()
                if let untold = messages.admit(at: clock.now) { reportRestart?(cause, untold) }
                return
            } catch {
                if case .exhausted = error.kind { break }
                failure = error
            }
        }
        fail(failure)
    }
}

// MARK: Calls that may hang

extension EncodeTrack {
    /// Ticks of the watchdog, a second each.
    private static let patience = 5

    /// What waits for no driver takes as long as it takes.
    private var patience: Int? { encoder?.waitsForDriver == true ? Self.patience : nil }

    private func code(
        _ buffer: borrowing PixelBuffer, as kind: FrameKind, with encoder: any PictureEncoder
    ) throws(EncoderError) {
        let call = watch.begin(patience: patience)
        defer { watch.end(call) }
        try encoder.encode(buffer, as: kind, frameNumber: policy.frameNumber)
    }

    private func nextAccessUnit() throws(EncoderError) -> AccessUnit? {
        let call = watch.begin(patience: patience)
        defer { watch.end(call) }
        return try encoder?.nextAccessUnit()
    }

    private func sendEnd() throws(EncoderError) {
        let call = watch.begin(patience: patience)
        defer { watch.end(call) }
        try encoder?.drain()
    }

    private func closeEncoder() {
        let call = watch.begin(patience: patience)
        defer { watch.end(call) }
        encoder = nil
    }

    /// A thread hangs in this track's encoder or in another's: it is left as it is, forever.
    /// - Parameter hasPicture: whether that was while a picture was encoded.
    func leaveEncoder(hasPicture: Bool) {
        if let encoder = encoder.take() { _ = Unmanaged.passRetained(encoder as AnyObject) }
        provider.discardSharedState()
        if hasPicture { endPicture(isLost: false) }
    }

    /// Opens another encoder in place of the one that was left.
    /// - Parameters:
    ///   - isLast: no picture will come any more, or nobody waits for one.
    ///   - areDriversOver: too many hang already.
    func replaceEncoder(isLast: Bool, areDriversOver: Bool) {
        guard !isOver else { return }
        let failure = EncoderError(.hung)
        if isLast || (areDriversOver && !provider.giveUpDrivers()) {
            fail(failure)
        } else {
            rebuild(after: failure)
        }
    }
}
