import Bitstream
import CamPictures
import CamPlatform
import Encoder
import CamStorage
import Containers
import CamConversion

/// Reports that an encoder failed and another was opened, and how many such failures went unreported since
/// the last.
public typealias EncoderRestartReport = (_ cause: EncoderError, _ suppressed: Int) -> Void

/// One codec's part of the encode thread's work: its encoder, keyframes and restarts, and the outputs that
/// take its stream. Belongs to the encode thread, and to any thread that has joined it.
final class EncodeTrack {
    let counters = Counters<EncoderCounter>()
    /// Why the encoder failed for good.
    private(set) var error: EncoderError?
    /// Whether all outputs have ended, or no more access units can be produced.
    private(set) var isOver = false
    /// The earliest to the latest time at which the access units are played.
    private(set) var span: ClosedRange<Instant>?
    /// The wall-clock time at the capture of the first access unit.
    private(set) var start: WallTime?
    /// The part of the span during which the recording was paused.
    private(set) var pausedTime = Duration.zero
    /// The frame rate in the first access unit's VUI.
    private(set) var statedRate: Double?

    /// Whether an output is live: live outputs may continue when files have ended.
    let isLive: Bool

    private let outputs: [RecordingOutput]
    /// The outputs that still take access units.
    private var takers: [RecordingOutput]
    private let provider: any EncoderProvider
    private let reportRestart: EncoderRestartReport?
    private let watch: CallWatch
    private let clock: any InterruptibleClock
    private var encoder: (any PictureEncoder)?
    private var policy: KeyframePolicy
    private var rate = RatePromiseCheck()
    private var encodedBits = 0
    /// When the outputs begin a new file.
    private var segments: SegmentSchedule?
    /// Finds the cuts in what the encoder returns, as the writers do.
    private var cuts: SegmentSchedule?
    private var isCutDue = false
    private var endsAtCut = false
    /// Whether the track ended where a new file would have begun.
    private(set) var hasReachedCut = false
    private var restarts = RestartLimit()
    private var messages = MessageLimit()
    /// Frames that are in the encoder: neither finished nor lost.
    private var framesInEncoder = 0
    /// Whether the current picture was passed to the encoder.
    private var isPictureTaken = false

    init(
        _ track: RecordingTrack, outputs: [RecordingOutput], clock: any InterruptibleClock, watch: CallWatch
    ) {
        provider = track.provider
        encoder = track.encoder
        reportRestart = track.reportRestart
        segments = track.segments
        cuts = track.segments
        policy = KeyframePolicy(interval: provider.keyframeInterval)
        (self.outputs, takers) = (outputs, outputs)
        isLive = outputs.contains(where: \.choice.isLive)
        self.clock = clock
        self.watch = watch
        rate.begin(track.encoder.ratePromise)
    }

    /// The codec of the track's encoders.
    var codec: Codec { provider.codec }

    /// The encoder in use.
    var choice: EncoderChoice? { provider.choice }

    /// The next frame's number.
    var frameNumber: Int { policy.frameNumber }

    /// The number of times that the track waited for an output.
    var waits: Int {
        var count = 0
        for output in outputs { count += output.counters[.waits] }
        return count
    }

    /// Records a pause.
    func skipTime(_ duration: Duration) {
        // Skipped pictures add no playing time to a time lapse.
        if frameNumber > 0, provider.stream.playbackRate == nil { pausedTime += duration }
    }

    /// Returns the rates of the stream. Call only after the encode thread has ended.
    func rateOutcome(seconds: Double?) -> RecordingOutcome.Rate {
        rate.outcome(bits: encodedBits, seconds: seconds)
    }

    /// Ends the track before the first access unit with which its outputs would begin a new file.
    func endAtCut() { endsAtCut = true }

    /// Makes the next frame a keyframe, in addition to the regular ones.
    func requestKeyframe() { policy.request() }

    /// The rates that can be changed now.
    var rateChanges: RateChanges { encoder?.rateChanges ?? [] }

    /// Changes the rate from the next picture on. Most encoders need a new session for that, and begin it
    /// with an IDR. Call between pictures only.
    func changeRate(_ change: RateChange) {
        guard !isOver, let encoder else { return }
        if provider.change(change) {
            rate.begin(encoder.ratePromise)
        } else {
            policy.request()
            openAnother()
        }
    }

    /// Ends the session if its encoder holds frames back, and continues in a new one. Call between pictures
    /// only; the next one must be a keyframe.
    func returnHeldBack() {
        if !isOver, framesInEncoder > 0 { openAnother() }
    }

    /// Continues in a new session, which begins with an IDR. Call between pictures only.
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

    /// Opens a new session at a regular keyframe if the camera deviates from its nominal rate, because most
    /// encoders measure time in frames.
    private func followFrameRate(_ buffer: borrowing PixelBuffer) {
        guard let encoder, encoder.wantsAnotherSession,
            policy.isRegular(at: playingTime(of: buffer), frameDuration: frameDuration(of: buffer))
        else { return }
        openAnother()
    }

    /// Drains and closes the encoder before a change of format. Call between pictures only; `beginSource`
    /// must follow.
    func endSource() {
        guard !isOver else { return }
        do throws(EncoderError) { try drain() } catch { policy.restart(after: counters[.encoded]) }
        countLostFrames()
        closeEncoder()
    }

    /// Encodes pictures of another format from now on, beginning with an IDR, and informs the outputs.
    func beginSource(_ format: PictureFormat) {
        guard !isOver else { return }
        provider.follow(format)
        policy.request()
        do throws(EncoderError) { try openEncoder() } catch { rebuild(after: error) }
        guard encoder != nil else { return }
        let stream = StreamDescription(provider)
        for output in takers { output.beginStream(stream) }
    }

    /// The result of encoding a picture.
    enum Verdict {
        case taken
        /// It cannot be decoded yet, or the encoder takes no more pictures.
        case unused
        /// The picture's data is damaged, so no encoder can use it.
        case damaged(EncoderError)
    }

    /// Converts a picture for the encoder. `encode` must follow if the picture is ready, then `endPicture`.
    /// - Parameter slot: the number of the slot that may hold its conversion.
    /// - Returns: nil if the picture is ready to be encoded.
    func prepare(_ buffer: borrowing PixelBuffer, in slot: Int) -> Verdict? {
        guard !isOver else { return .unused }
        followFrameRate(buffer)
        guard !isOver, let encoder else { return .unused }
        if segments?.enters(number: policy.frameNumber, timestamp: buffer.timestamp) == true {
            policy.request()
        }
        do throws(EncoderError) { try convert(buffer, in: slot, with: encoder) } catch {
            beginPicture()
            return recover(from: error)
        }
        return nil
    }

    /// The thumbnail of the prepared picture; nil if the encoder makes no thumbnails. Call between `prepare`
    /// and `slot`.
    var thumbnail: LumaThumbnail? { isOver ? nil : encoder?.thumbnail }

    /// Returns a slot for a later picture; nil if converting ahead gains nothing. Call between `prepare` and
    /// `encode`.
    func slot(_ number: Int) -> ConversionSlot? {
        guard !isOver, let encoder else { return nil }
        let call = watch.begin(patience: patience)
        defer { watch.end(call) }
        return encoder.slot(number)
    }

    /// Encodes a picture that is ready.
    func encode(_ buffer: borrowing PixelBuffer) -> Verdict {
        guard let encoder else { return .unused }
        beginPicture()
        let kind = policy.kind(at: playingTime(of: buffer), frameDuration: frameDuration(of: buffer))
        do throws(EncoderError) { try code(buffer, as: kind, with: encoder) } catch {
            if error.recovery == .rebuildEncoder { rescueHeldBack() }
            return recover(from: error)
        }
        policy.advance(kind, at: playingTime(of: buffer))
        do throws(EncoderError) { try forwardAccessUnits() } catch { return recover(from: error) }
        return .taken
    }

    /// Takes the frames that an encoder held back when it rejected a picture: they do not refer to that
    /// picture. A driver that has failed is not asked for more.
    private func rescueHeldBack() {
        guard encoder?.waitsForDriver == false else { return }
        try? drain()
    }

    /// When the next frame is played.
    private func playingTime(of buffer: borrowing PixelBuffer) -> Instant {
        playingTime(ofFrame: policy.frameNumber, capturedAt: buffer.timestamp)
    }

    /// When a frame is played: at its capture time, or as the playback rate of a time lapse says.
    private func playingTime(ofFrame number: Int, capturedAt time: Instant) -> Instant {
        provider.stream.playbackRate?.playingTime(ofFrame: number) ?? time
    }

    /// The nominal playing time from the next frame to the one after it.
    private func frameDuration(of buffer: borrowing PixelBuffer) -> Duration {
        (provider.stream.playbackRate ?? buffer.format.frameRate).frameDuration
    }

    private func beginPicture() {
        isPictureTaken = true
        framesInEncoder += 1
    }

    private func recover(from error: EncoderError) -> Verdict {
        switch error.recovery {
        case .skipFrame:
            framesInEncoder -= 1
            isPictureTaken = false
            if case .beforeIDR = error.kind { return .unused }
            return .damaged(error)
        case .rebuildEncoder: rebuild(after: error)
        case .stop: fail(error)
        }
        return .taken
    }

    /// Releases the picture once every encoder has seen it.
    /// - Parameter isLost: whether the picture is already counted as damaged or dropped.
    func endPicture(isLost: Bool) {
        encoder?.releasePicture()
        if !isPictureTaken, !isLost { counters.add(to: .unused) }
        isPictureTaken = false
    }

    /// Whether the files have ended and only live outputs continue.
    private var servesOn = false

    /// Ends the files with the pictures so far, while the live outputs continue. A track without live outputs
    /// ends. Call between pictures only.
    func endFiles() {
        guard !isOver, !servesOn else { return }
        guard isLive else { return finish() }
        servesOn = true
        segments = nil
        if framesInEncoder > 0 {
            policy.request()
            returnHeldBack()
        }
        for output in takers where !output.choice.isLive { output.close() }
        takers.removeAll { !$0.choice.isLive }
    }

    /// Drains the encoder at the end of the stream and closes the outputs.
    func finish() {
        if !isOver {
            do throws(EncoderError) { try drain() } catch { fail(error) }
        }
        close()
    }

    /// Ends the track with an error.
    func fail(_ error: EncoderError) {
        guard !isOver else { return }
        self.error = error
        // The encoder may still return delayed access units; an error here changes nothing.
        if error.recovery == .stop { try? drain() }
        close()
    }

    private func close() {
        isOver = true
        countLostFrames()
        for output in takers { output.close() }
        closeEncoder()
    }

    private func forwardAccessUnits() throws(EncoderError) {
        while let unit = try nextAccessUnit() {
            if isCut(unit) { return end() }
            framesInEncoder -= 1
            counters.add(to: .encoded)
            let time = playingTime(ofFrame: unit.frameNumber, capturedAt: unit.timestamp)
            rate.add(unit, playedAt: time)
            encodedBits += unit.count * 8
            if span == nil { begin(with: unit) }
            span = min(span?.lowerBound ?? time, time)...max(span?.upperBound ?? time, time)
            var isWanted = false
            for output in takers where output.accept(unit) { isWanted = true }
            if !isWanted { return leaveRest() }
        }
    }

    /// Whether the recording ends before an access unit, with which its outputs would begin a new file.
    private func isCut(_ unit: AccessUnit) -> Bool {
        if cuts?.enters(unit) == true { isCutDue = true }
        guard unit.isIDR, isCutDue else { return false }
        isCutDue = false
        cuts?.begin(with: unit)
        return endsAtCut
    }

    /// Ends at a cut: frames from there on are not used.
    private func end() {
        hasReachedCut = true
        leaveRest()
    }

    /// Ends the track: the frames that are still in the encoder are not used.
    private func leaveRest() {
        counters.add(framesInEncoder, to: .unused)
        framesInEncoder = 0
        isOver = true
        // The camera needs its buffers, because other tracks may continue.
        encoder?.giveBuffersBack()
    }

    private func begin(with unit: AccessUnit) {
        statedRate = unit.statedFrameRate?.framesPerSecond
        start = clock.wallTime(at: unit.timestamp)
        segments?.anchor(at: unit.timestamp)
    }

    private func drain() throws(EncoderError) {
        try sendEnd()
        try forwardAccessUnits()
    }

    /// Counts the frames that will never come out of the encoder.
    private func countLostFrames() {
        counters.add(framesInEncoder, to: .droppedByEncoder)
        framesInEncoder = 0
    }

    /// Closes the failed session and opens a new one, which begins with an IDR. Opens none if the recording
    /// should end.
    private func rebuild(after failure: EncoderError) {
        countLostFrames()
        guard !isOver else { return closeEncoder() }
        policy.restart(after: counters[.encoded])
        provider.noteFailure()
        closeEncoder()
        let cause = failure
        var failure = failure
        while restarts.allowsAnother(at: clock.now) || provider.giveUpDrivers() {
            if let end = restarts.pause(at: clock.now), clock.wait(until: end) { return }
            restarts.count(at: clock.now)
            counters.add(to: .restarts)
            do throws(EncoderError) {
                try openEncoder()
                if let suppressed = messages.admit(at: clock.now) { reportRestart?(cause, suppressed) }
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
    /// Watchdog ticks, one per second.
    private static let patience = 5

    /// An encoder that does not wait for a driver may take any time.
    private var patience: Int? { encoder?.waitsForDriver == true ? Self.patience : nil }

    private func convert(
        _ buffer: borrowing PixelBuffer, in slot: Int, with encoder: any PictureEncoder
    ) throws(EncoderError) {
        let call = watch.begin(patience: patience)
        defer { watch.end(call) }
        try encoder.prepare(buffer, in: slot)
    }

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

    /// Leaks the encoder, because a thread hangs in this encoder or in that of another track.
    /// - Parameter hasPicture: whether a picture was being encoded.
    func abandonEncoder(hasPicture: Bool) {
        if let encoder = encoder.take() {
            encoder.giveBuffersBack()
            _ = Unmanaged.passRetained(encoder as AnyObject)
        }
        provider.discardSharedState()
        if hasPicture { endPicture(isLost: false) }
    }

    /// Opens another encoder in place of the leaked one.
    /// - Parameters:
    ///   - isLast: whether no more pictures will come or be waited for.
    ///   - areDriversGivenUp: whether too many threads already hang in drivers.
    func replaceEncoder(isLast: Bool, areDriversGivenUp: Bool) {
        guard !isOver else { return }
        let failure = EncoderError(.hung)
        if isLast || (areDriversGivenUp && !provider.giveUpDrivers()) {
            fail(failure)
        } else {
            rebuild(after: failure)
        }
    }
}

// MARK: Restarts

/// Allows at most three restarts per minute, at least a second apart.
struct RestartLimit {
    private static let most = 3
    private static let period = Duration.seconds(60)
    private static let distance = Duration.seconds(1)

    private var times: [Instant] = []

    mutating func allowsAnother(at time: Instant) -> Bool {
        times.removeAll { time - $0 >= Self.period }
        return times.count < Self.most
    }

    /// Returns the earliest time for the next restart, or nil if that is now.
    func pause(at time: Instant) -> Instant? {
        guard let last = times.last, time - last < Self.distance else { return nil }
        return last + Self.distance
    }

    mutating func count(at time: Instant) { times.append(time) }
}
