import Encoder
import Pictures
import Threading

/// The encode thread's work: the only owner of the codecs. Each picture goes to every track.
final class EncodeStage: @unchecked Sendable {
    // Safe to share: it all belongs to the encode thread. When that hangs in a call and is abandoned it passes to the
    // thread that is started in its place, for the watch keeps the one that hangs from returning.

    /// Around every call that may hang.
    let watch: CallWatch
    let tracks: [EncodeTrack]
    let frames: BoundedQueue<PixelBuffer>
    let counters: Counters<CaptureCounter>
    let stop: RecordingStop
    let limits: RecordingLimits
    let control: RecordingControl
    /// The picture that is being encoded.
    private var pictureInHand: PixelBufferClaim?
    private var hangs = 0
    /// How often an encoder had failed, or an output had been waited for, and what had been dropped, after the last
    /// picture.
    private var lastFailures = 0
    private var lastWaits = 0
    private var lastDropped = 0
    private var isDraining = false
    private var firstTimestamp: Int64?
    private var skippedInARow = 0
    /// The moment of the first picture that was given up in the pause that goes on.
    private var pauseStart: Int64?
    /// Which life of the source the last picture was of, and in which format.
    private var lastRun = 0
    private var format: PictureFormat?
    /// More than the keyframe interval of any camera that means to have one.
    private static let mostSkippedInARow = 900
    /// A thread that hangs keeps its stack and its session for good; with more of them drivers are given up.
    private static let mostHangs = 8

    init(
        tracks: [EncodeTrack], watch: CallWatch, limits: RecordingLimits, frames: BoundedQueue<PixelBuffer>,
        counters: Counters<CaptureCounter>, stop: RecordingStop, control: RecordingControl
    ) {
        self.tracks = tracks
        self.watch = watch
        self.limits = limits
        self.frames = frames
        self.counters = counters
        self.stop = stop
        self.control = control
        tellRateChanges()
    }

    /// Runs until the source has ended and everything is encoded, or every encoder has failed for good.
    func run() {
        while let buffer = frames.pop() {
            pictureInHand = buffer.claim
            if isComplete(at: buffer.timestamp) {
                stop.request()
                for track in tracks { track.endPicture(isLost: false) }
            } else if control.isPaused {
                pause(at: buffer.timestamp)
            } else {
                encode(buffer)
            }
            pictureInHand = nil
            countDrops()
        }
        isDraining = true
        for track in tracks { track.finish() }
    }

    /// Goes on in place of a thread that hangs; with no other encoder where the recording is to end, for every
    /// one of them might hang.
    func goOnAfterHang() {
        replaceEncoders(isLast: isDraining || stop.isRequested)
        countDrops()
        run()
    }

    /// Ends everything in place of a thread that hangs, where there is no other to go on.
    func giveUpAfterHang() {
        replaceEncoders(isLast: true)
        frames.close()
        _ = frames.removeAll()
        run()
    }

    /// The encoders share a display and what they make of a picture, so that all of them are given up: unclosed,
    /// because that may hang as well.
    private func replaceEncoders(isLast: Bool) {
        hangs += 1
        for track in tracks { track.leaveEncoder(hasPicture: pictureInHand != nil) }
        pictureInHand?.giveBack()
        pictureInHand = nil
        for track in tracks { track.replaceEncoder(isLast: isLast, areDriversOver: hangs >= Self.mostHangs) }
    }

    /// What was given up since the last picture was not late for its coding, where an encoder has failed meanwhile
    /// or an output had no room.
    private func countDrops() {
        var (failures, waits) = (hangs, 0)
        for track in tracks {
            failures += track.counters[.restarts]
            waits += track.waits
        }
        let dropped = counters[.droppedByUs]
        if failures != lastFailures {
            counters.add(dropped - lastDropped, to: .droppedInRestart)
        } else if waits != lastWaits {
            counters.add(dropped - lastDropped, to: .droppedForOutput)
        }
        (lastFailures, lastWaits, lastDropped) = (failures, waits, dropped)
    }

    private func isComplete(at timestamp: Int64) -> Bool {
        if tracks.allSatisfy(isComplete) { return true }
        if let duration = limits.duration, let firstTimestamp {
            return .nanoseconds(timestamp - firstTimestamp) >= duration
        }
        return false
    }

    /// Whether a track needs no more frames.
    private func isComplete(_ track: EncodeTrack) -> Bool {
        track.isOver || limits.frames.map { track.frameNumber >= $0 } ?? false
    }

    /// What every track can do.
    private func tellRateChanges() {
        var possible = RateChanges(rawValue: ~0)
        for track in tracks where !track.isOver { possible.formIntersection(track.rateChanges) }
        control.tellRateChanges(possible)
    }

    private func pause(at timestamp: Int64) {
        firstTimestamp = firstTimestamp ?? timestamp
        pauseStart = pauseStart ?? timestamp
        counters.add(to: .paused)
    }

    private func encode(_ buffer: consuming PixelBuffer) {
        firstTimestamp = firstTimestamp ?? buffer.timestamp
        if let rate = control.takeBitRate() {
            for track in tracks { track.changeRate(.average(rate)) }
        }
        if let rate = control.takeMaximumBitRate() {
            for track in tracks { track.changeRate(.maximum(rate)) }
        }
        tellRateChanges()
        let pauseStart = pauseStart.take()
        if let pauseStart { for track in tracks { track.skipTime(buffer.timestamp - pauseStart) } }
        let isResumed = buffer.run != lastRun || pauseStart != nil
        lastRun = buffer.run
        followFormat(of: buffer)
        let wantsKeyframe = control.takeKeyframe() || isResumed
        var (isTaken, damage) = (false, EncoderError?.none)
        for track in tracks where damage == nil && !isComplete(track) {
            if wantsKeyframe { track.requestKeyframe() }
            switch track.encode(buffer) {
            case .taken: isTaken = true
            case .unused: break
            case .damaged(let error): damage = isTaken ? nil : error
            }
        }
        for track in tracks { track.endPicture(isLost: damage != nil) }
        _ = consume buffer
        if damage != nil { counters.add(to: .corrupt) }
        if isTaken { skippedInARow = 0 } else { skip(damage) }
        // As soon as the last frame is in, the source can stop: no frame more is needed to find that out.
        if tracks.allSatisfy(isComplete) { stop.request() }
    }

    /// A source that came back may deliver something else: every encoder is then made anew. First all are closed,
    /// because they share what they have in common.
    private func followFormat(of buffer: borrowing PixelBuffer) {
        defer { format = buffer.format }
        guard let format, format !== buffer.format else { return }
        for track in tracks { track.endSource() }
        for track in tracks { track.beginSource(buffer.format) }
    }

    /// One picture that cannot be used does no harm; none that can is the end.
    private func skip(_ damage: EncoderError?) {
        skippedInARow += 1
        guard skippedInARow >= Self.mostSkippedInARow else { return }
        let reason = damage ?? EncoderError(.beforeIDR)
        for track in tracks {
            track.fail(
                EncoderError(
                    .unsupported(
                        "\(skippedInARow) pictures in a row could not be used (\(reason)); try another --format"
                    )))
        }
    }
}
