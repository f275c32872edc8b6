import Bitstream
import CamConversion
import CamPictures
import CamPlatform

/// One of a session's streams: its encoder, keyframes and restarts.
///
/// Belongs to the session's thread while that performs a task, otherwise to the session's caller.
public final class Rendition {
    /// Its place among the session's renditions.
    public let index: Int
    /// What became of its frames.
    public let counters = Counters<EncoderCounter>()
    /// Why the encoder failed for good.
    public private(set) var error: EncoderError?
    /// Whether no more access units come.
    public private(set) var isOver = false
    /// Whether the next picture is encoded.
    package var wantsPicture = true
    /// Receives each access unit, on the session's caller's thread.
    public var onAccessUnit: (AccessUnit) -> Demand = { _ in .more }
    /// Receives what else happens, on the session's caller's thread.
    public var onEvent: (Event) -> Void = { _ in }

    /// Whether rate changes of the whole session apply to it: a rendition with a rate of its own keeps that.
    package var followsRateChanges = true

    /// Whether the current picture is one of those that it takes.
    private(set) var isPictureDue = false
    /// Whether the current picture is converted and ready to be encoded.
    private(set) var isPictureReady = false

    private let provider: any EncoderProvider
    private let watch: CallWatch
    var clock: any InterruptibleClock
    private var encoder: (any PictureEncoder)?
    private var policy: KeyframePolicy
    /// Picks the pictures at a rate below the source's.
    private var picker: (interval: Duration, run: Int, frames: FramePicker)?
    private var restarts = RestartLimit()
    private var messages = MessageLimit()
    /// What is not yet delivered.
    private var items: [Item] = []
    /// Frames that are in the encoder: neither finished nor lost.
    private var framesInEncoder = 0
    /// Frames that came out of the encoders.
    private var finishedFrames = 0
    /// Whether the receiver wants no more access units.
    private var isUnwanted = false
    private var hasEnded = false
    /// Lets the session's caller take what is not yet delivered.
    var handOver: () -> Void = {}
    /// Whether the current picture was passed to the encoder.
    private var isPictureTaken = false

    /// What a receiver of access units still wants.
    public enum Demand {
        case more
        /// This access unit is the last one.
        case noMore
        /// Not even this access unit.
        case none
    }

    /// What happens to a rendition.
    public enum Event {
        /// An encoder begins or continues the stream, or has other rates; this is its promise from here on.
        case opened(RatePromise?)
        /// An encoder failed and another was opened; so many such failures went unreported since the last.
        case replaced(cause: EncoderError, suppressed: Int)
        /// The source has another format: the stream continues with other properties and an IDR.
        case changed(EncodedStream)
        /// The stream has ended. It comes once.
        case ended
    }

    private enum Item {
        case unit(AccessUnit)
        case event(Event)
    }

    init(
        _ provider: any EncoderProvider, index: Int, _ watch: CallWatch, _ clock: any InterruptibleClock
    ) throws(EncoderError) {
        (self.provider, self.index, self.watch, self.clock) = (provider, index, watch, clock)
        policy = KeyframePolicy(interval: provider.keyframeInterval)
        try openEncoder()
    }

    /// The codec of its encoders.
    public var codec: Codec { provider.codec }

    /// The encoder in use.
    public var choice: EncoderChoice? { provider.choice }

    /// The properties that the current encoder's stream declares.
    public var stream: EncodedStream { provider.stream }

    /// The next frame's number.
    public var frameNumber: Int { policy.frameNumber }

    /// Makes the next frame a keyframe, in addition to the regular ones.
    public func requestKeyframe() { policy.request() }

    /// The rates that can be changed now.
    public var rateChanges: RateChanges { encoder?.rateChanges ?? [] }

    /// When a frame is played: at its capture time, or as the playback rate of a time lapse says.
    package func playingTime(ofFrame number: Int, capturedAt time: Instant) -> Instant {
        provider.stream.playbackRate?.playingTime(ofFrame: number) ?? time
    }
}

// MARK: - Delivery

extension Rendition {
    /// Whether something is not yet delivered.
    var hasItems: Bool { !items.isEmpty }

    /// Delivers what has happened, on the caller's thread.
    func deliver() {
        // By position: no copy of the array.
        var position = 0
        while position < items.count {
            switch items[position] {
            case .unit(let unit): deliver(unit)
            case .event(let event): onEvent(event)
            }
            position += 1
        }
        items.removeAll(keepingCapacity: true)
    }

    private func deliver(_ unit: AccessUnit) {
        guard !isUnwanted else { return counters.add(to: .unused) }
        switch onAccessUnit(unit) {
        case .more: counters.add(to: .encoded)
        case .noMore:
            counters.add(to: .encoded)
            leaveRest()
        case .none:
            counters.add(to: .unused)
            leaveRest()
        }
    }

    /// Ends the rendition: the frames that are still in the encoder are not used.
    private func leaveRest() {
        counters.add(framesInEncoder, to: .unused)
        framesInEncoder = 0
        (isUnwanted, isOver) = (true, true)
        // The camera needs its buffers, because other renditions may continue.
        encoder?.giveBuffersBack()
    }
}

// MARK: - Between pictures

extension Rendition {
    /// Changes a rate from the next picture on. Most encoders need to be opened again for that.
    func change(_ change: RateChange) {
        guard !isOver, let encoder else { return }
        if provider.change(change) {
            items.append(.event(.opened(encoder.ratePromise)))
        } else {
            policy.request()
            openAnother()
        }
    }

    /// Takes what the encoder holds back, if it does, and continues with another, which begins with an IDR.
    func returnHeldBack() {
        guard !isOver, framesInEncoder > 0 else { return }
        policy.request()
        openAnother()
    }

    private func openAnother() {
        do throws(EncoderError) {
            try drain()
            // The new encoder may need what the old one holds.
            closeEncoder()
            if !isOver { try openEncoder() }
        } catch {
            rebuild(after: error)
        }
    }

    private func openEncoder() throws(EncoderError) {
        encoder = try provider.open(watch)
        items.append(.event(.opened(encoder?.ratePromise)))
    }

    /// Drains and closes the encoder before a change of format; `beginSource` must follow.
    func endSource() {
        guard !isOver else { return }
        do throws(EncoderError) { try drain() } catch { policy.restart(after: finishedFrames) }
        countLostFrames()
        closeEncoder()
    }

    /// Encodes pictures of another format from now on, beginning with an IDR.
    func beginSource(_ format: PictureFormat) {
        guard !isOver else { return }
        follow(format)
        do throws(EncoderError) { try openEncoder() } catch { rebuild(after: error) }
        noteSource()
    }

    /// Opens encoders for pictures of another format from now on.
    func follow(_ format: PictureFormat) {
        provider.follow(format)
        policy.request()
    }

    /// Reports the properties of the stream from here on.
    func noteSource() {
        if !isOver, encoder != nil { items.append(.event(.changed(provider.stream))) }
    }

    /// Takes what the encoder holds back and closes it.
    func finish() {
        if !isOver {
            do throws(EncoderError) { try drain() } catch { fail(error) }
        }
        close()
    }

    /// Ends the rendition with an error.
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
        closeEncoder()
        if !hasEnded { items.append(.event(.ended)) }
        hasEnded = true
    }
}

// MARK: - Pictures

extension Rendition {
    /// Whether it takes pictures, if they are due.
    var takesPictures: Bool { wantsPicture && !isOver }

    /// Converts the pictures for all renditions; nil if each takes the source's own.
    var sourceConversion: SourceConversion? { provider.sourceConversion }

    /// Decides whether it takes the next picture, by the rate that was requested. `endPicture` must follow.
    func pick(_ buffer: borrowing PixelBuffer) {
        isPictureDue = takesPictures && isDue(buffer)
    }

    private func isDue(_ buffer: borrowing PixelBuffer) -> Bool {
        guard let interval = provider.pictureInterval else { return true }
        // A camera that was away begins with a picture.
        if picker?.interval != interval || picker?.run != buffer.run {
            picker = (interval, buffer.run, FramePicker(every: interval))
        }
        return picker?.frames.picks(
            frameAt: buffer.timestamp, frameDuration: buffer.format.frameRate.frameDuration) != false
    }

    /// Converts a picture for the encoder. `encode` must follow if the picture is ready, then `endPicture`.
    /// - Parameter slot: the number of the slot that may hold its conversion.
    func prepare(_ buffer: borrowing PixelBuffer, in slot: Int) -> CompressionSession.Verdict {
        guard isPictureDue else { return .unused }
        followFrameRate(buffer)
        guard !isOver, let encoder else { return .unused }
        do throws(EncoderError) { try convert(buffer, in: slot, with: encoder) } catch {
            beginPicture()
            return recover(from: error)
        }
        isPictureReady = true
        return .unused
    }

    /// The current picture's thumbnail; nil if the encoder makes none. Call it while the session calls
    /// `onConversion`, before `slot`.
    package var thumbnail: LumaThumbnail? { isPictureReady ? encoder?.thumbnail : nil }

    /// Returns a slot for a later picture; nil if converting ahead gains nothing. Call it while the session
    /// calls `onConversion`.
    package func slot(_ number: Int) -> ConversionSlot? {
        guard !isOver, let encoder else { return nil }
        let call = watch.begin(patience: patience)
        defer { watch.end(call) }
        return encoder.slot(number)
    }

    /// Encodes a picture that is ready.
    func encode(_ buffer: borrowing PixelBuffer) -> CompressionSession.Verdict {
        guard let encoder else { return .unused }
        beginPicture()
        let (time, duration) = (playingTime(of: buffer), frameDuration(of: buffer))
        let kind = policy.kind(at: time, frameDuration: duration)
        do throws(EncoderError) { try code(buffer, as: kind, with: encoder) } catch {
            if error.recovery == .rebuildEncoder { rescueHeldBack() }
            return recover(from: error)
        }
        policy.advance(kind, at: time)
        do throws(EncoderError) { try takeAccessUnits() } catch { return recover(from: error) }
        return .taken
    }

    /// Takes the frames that an encoder held back when it rejected a picture: they do not refer to that
    /// picture. A driver that has failed is not asked for more.
    private func rescueHeldBack() {
        guard encoder?.waitsForDriver == false else { return }
        try? drain()
    }

    /// Releases the picture once every encoder has seen it.
    /// - Parameter isLost: whether the picture is already counted as damaged or dropped.
    func endPicture(isLost: Bool) {
        encoder?.releasePicture()
        if !isPictureTaken, !isLost { counters.add(to: .unused) }
        (isPictureTaken, isPictureReady, isPictureDue) = (false, false, false)
    }

    /// When the next frame is played.
    private func playingTime(of buffer: borrowing PixelBuffer) -> Instant {
        playingTime(ofFrame: policy.frameNumber, capturedAt: buffer.timestamp)
    }

    /// The nominal playing time from the next frame to the one after it.
    private func frameDuration(of buffer: borrowing PixelBuffer) -> Duration {
        provider.stream.playbackRate?.frameDuration ?? provider.pictureInterval
            ?? buffer.format.frameRate.frameDuration
    }

    /// Opens another encoder at a regular keyframe if the camera deviates from its nominal rate, because most
    /// encoders measure time in frames.
    private func followFrameRate(_ buffer: borrowing PixelBuffer) {
        guard let encoder, encoder.wantsAnotherSession,
            policy.isRegular(at: playingTime(of: buffer), frameDuration: frameDuration(of: buffer))
        else { return }
        openAnother()
    }

    private func beginPicture() {
        isPictureTaken = true
        framesInEncoder += 1
    }

    private func recover(from error: EncoderError) -> CompressionSession.Verdict {
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

    private func takeAccessUnits(isDraining: Bool = false) throws(EncoderError) {
        while !isUnwanted, let unit = try nextAccessUnit() {
            framesInEncoder -= 1
            finishedFrames += 1
            unit.rendition = index
            items.append(.unit(unit))
            // An encoder may need long for what it holds back.
            if isDraining { handOver() }
        }
    }

    private func drain() throws(EncoderError) {
        try sendEnd()
        try takeAccessUnits(isDraining: true)
    }

    /// Counts the frames that will never come out of the encoder.
    private func countLostFrames() {
        counters.add(framesInEncoder, to: .droppedByEncoder)
        framesInEncoder = 0
    }
}

// MARK: - Replacement

extension Rendition {
    /// Closes the failed encoder and opens another, which begins with an IDR. Opens none if the recording
    /// should end.
    private func rebuild(after failure: EncoderError) {
        countLostFrames()
        guard !isOver else { return closeEncoder() }
        policy.restart(after: finishedFrames)
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
                if let suppressed = messages.admit(at: clock.now) {
                    items.append(.event(.replaced(cause: cause, suppressed: suppressed)))
                }
                return
            } catch {
                if case .exhausted = error.kind { break }
                failure = error
            }
        }
        fail(failure)
    }

    /// Leaks the encoder, because a thread hangs in this encoder or in that of another rendition.
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

// MARK: - Calls that may hang

extension Rendition {
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
}

// MARK: - Restarts

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

// MARK: - Counters

/// Counters of an encoder. Captured frames, except those that are `corrupt`, `droppedByUs`, `paused` or
/// `notWanted`, add up to `droppedByEncoder` + `encoded` + `unused`.
public enum EncoderCounter: Int, CaseIterable, Sendable {
    /// Frames that went into the encoder and never came out.
    case droppedByEncoder
    /// Frames still waiting when the recording ended or the encoder failed for good, or before the first IDR
    /// of a camera's own H.264.
    case unused
    /// Access units that the encoder produced.
    case encoded
    /// Times a failing encoder was closed and reopened.
    case restarts
}
