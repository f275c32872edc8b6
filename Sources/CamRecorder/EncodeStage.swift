import CamPictures
import CamPlatform
import Encoder
import Synchronization

/// The encode thread's work: passes each picture to the compression session, for every track that wants it.
final class EncodeStage: @unchecked Sendable {
    // Safe to share: it belongs to the encode thread while that runs, except for `thread`, which belongs to the
    // thread that starts and joins it. `session` calls `beginEncoding` while the encode thread waits.

    let session: CompressionSession
    let tracks: [EncodeTrack]
    let frames: BoundedQueue<PixelBuffer>
    let ahead: ConversionAhead
    let counters: Counters<CaptureCounter>
    let stop: RecordingStop
    let limits: RecordingLimits
    let control: RecordingControl
    private let motion: MotionWatch?
    /// Whether each rendition is watched; nil if all are encoded in any case.
    private let demand: CameraDemand?
    /// The encoder failures, output waits and drops counted up to the last picture.
    private var lastFailures = 0
    private var lastWaits = 0
    private var lastDropped = 0
    private var firstTimestamp: Instant?
    /// The pictures that tracks with every picture have taken, or would have.
    private var takenPictures = 0
    private let hasTrackOfAllPictures: Bool
    private var skippedInARow = 0
    /// The timestamp of the first picture dropped in the current pause.
    private var pauseStart: Instant?
    /// The source generation of the last picture.
    private var lastRun = 0
    /// The time in which the camera was off, as far as the tracks know.
    private var lastOff = 0
    private var thread: WorkerThread?
    private let isFinished = Atomic<Bool>(false)
    /// More than the keyframe interval of any camera that sends keyframes regularly.
    private static let mostSkippedInARow = 900

    /// - Parameters:
    ///   - tracks: one for each of the session's renditions.
    ///   - motion: watches the pictures; nil without motion detection.
    ///   - demand: which renditions are watched; nil if all are encoded in any case.
    init(
        _ session: CompressionSession, tracks: [EncodeTrack], limits: RecordingLimits,
        frames: BoundedQueue<PixelBuffer>, ahead: ConversionAhead, counters: Counters<CaptureCounter>,
        stop: RecordingStop, control: RecordingControl, motion: MotionWatch? = nil,
        demand: CameraDemand? = nil
    ) {
        (self.session, self.tracks) = (session, tracks)
        hasTrackOfAllPictures = tracks.contains { !$0.hasOwnFrameRate }
        self.limits = limits
        self.frames = frames
        self.ahead = ahead
        self.counters = counters
        self.stop = stop
        self.control = control
        self.motion = motion
        self.demand = demand
        session.onConversion = { [unowned self] picture in beginEncoding(picture) }
        control.publishRateChanges(session.rateChanges)
    }

    /// Runs until the source has ended and every picture is encoded, or every encoder has failed for good.
    func run() {
        while let picture = ahead.pop() {
            if limits.servesOn, isTooLate(picture.buffer.timestamp) {
                for track in tracks { track.endFiles(session) }
            }
            if isComplete(at: picture.buffer.timestamp) {
                stop.request()
                for track in tracks { track.counters.add(to: .unused) }
            } else if control.isPaused {
                pause(at: picture.buffer.timestamp)
            } else {
                encode(picture)
            }
            countDrops()
        }
        ahead.stop()
        session.finish()
        session.onConversion = nil
        motion?.finish()
    }

    /// Attributes drops since the last picture to an encoder's failure or a full output queue, if there was
    /// one, rather than to slow encoding.
    private func countDrops() {
        var (failures, waits) = (session.hangCount, 0)
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

    private func isComplete(at timestamp: Instant) -> Bool {
        tracks.allSatisfy(isComplete) || !limits.servesOn && isTooLate(timestamp)
    }

    private func isTooLate(_ timestamp: Instant) -> Bool {
        firstTimestamp.map { limits.isReached(at: timestamp, since: $0) } ?? false
    }

    /// Whether a track needs no more frames. A track without viewers ends as soon as one with viewers has all frames.
    private func isComplete(_ track: EncodeTrack) -> Bool {
        if track.isOver { return true }
        guard !servesOn(track) else { return false }
        return hasAllFrames(track) || track.isResting && tracks.contains { hasAllFrames($0) }
    }

    /// Whether a track has the requested number of frames. Beside a track with every picture, one with a lower
    /// frame rate ends at the same picture, even if the other has failed.
    /// - Parameter more: frames that are about to be encoded.
    private func hasAllFrames(_ track: EncodeTrack, and more: Int = 0) -> Bool {
        let countsPictures = track.hasOwnFrameRate && hasTrackOfAllPictures
        return limits.isReached(byFrames: (countsPictures ? takenPictures : track.frameNumber) + more)
    }

    /// Whether a track continues for its live outputs when its files have ended.
    private func servesOn(_ track: EncodeTrack) -> Bool { limits.servesOn && track.isLive }

    private func pause(at timestamp: Instant) {
        firstTimestamp = firstTimestamp ?? timestamp
        // Pictures from before the pause reach the outputs now, however long the pause lasts.
        if pauseStart == nil {
            session.returnHeldBack()
            motion?.finish()
        }
        pauseStart = pauseStart ?? timestamp
        counters.add(to: .paused)
    }

    private func encode(_ picture: consuming ConversionAhead.Picture) {
        let wantsKeyframe = follow(picture.buffer)
        for track in tracks {
            if wantsKeyframe { track.rendition.requestKeyframe() }
            if let demand {
                let isWanted = demand.isWanted(rendition: track.rendition.index)
                track.rest(!isWanted, at: picture.buffer.timestamp, session)
            }
            track.rendition.wantsPicture = !isComplete(track) && !track.isResting
            if track.rendition.wantsPicture { track.beginPicture(at: picture.buffer.timestamp) }
        }
        let slot = picture.slot
        let verdict = session.encode(picture.buffer, in: slot)
        if case .taken = verdict { takenPictures += 1 }
        if limits.servesOn {
            for track in tracks where hasAllFrames(track) {
                track.endFiles(session)
            }
        }
        switch verdict {
        case .taken: skippedInARow = 0
        // Nobody wanted it: a snapshot turned the camera on.
        case .unused where tracks.allSatisfy({ $0.isResting || isComplete($0) }): break
        case .unused: skip(nil)
        case .damaged(let error):
            counters.add(to: .corrupt)
            skip(error)
        }
        // Once the last frame is encoded, the source can stop without capturing another. The cut of one track
        // ends all tracks: the cuts of the others are close, or too far away to wait for (segments by size).
        if tracks.allSatisfy(isComplete) || tracks.contains(where: \.hasReachedCut) { stop.request() }
        motion?.look()
    }

    /// Between the conversion of a picture and its encoding: the next pictures can be converted meanwhile.
    private func beginEncoding(_ picture: borrowing PixelBuffer) {
        if let motion, let thumbnail = session.thumbnail { motion.take(thumbnail, of: picture) }
        ahead.offer { number, slots in
            session.addSlots(number, to: &slots) { $0.wantsPicture && !isLast(tracks[$0.index]) }
        }
    }

    /// Whether a track takes no picture after the current one.
    private func isLast(_ track: EncodeTrack) -> Bool {
        track.isOver || !servesOn(track) && hasAllFrames(track, and: 1)
    }

    /// Follows what has changed since the last picture: rates, a pause, the source.
    /// - Returns: whether a keyframe is wanted.
    private func follow(_ buffer: borrowing PixelBuffer) -> Bool {
        firstTimestamp = firstTimestamp ?? buffer.timestamp
        if let rate = control.takeBitRate() { session.change(.average(rate)) }
        if let rate = control.takeMaximumBitRate() { session.change(.maximum(rate)) }
        control.publishRateChanges(session.rateChanges)
        if control.endsAtCut { for track in tracks { track.endAtCut() } }
        let pauseStart = pauseStart.take()
        if let pauseStart { for track in tracks { track.skipTime(buffer.timestamp - pauseStart) } }
        let off = counters[.millisecondsOff]
        if off != lastOff { for track in tracks { track.skipTime(.milliseconds(off - lastOff)) } }
        lastOff = off
        let isResumed = buffer.run != lastRun || pauseStart != nil
        lastRun = buffer.run
        session.follow(buffer.format)
        return control.takeKeyframe() || isResumed
    }

    /// A single unusable picture is harmless; too many in a row end the recording.
    private func skip(_ damage: EncoderError?) {
        skippedInARow += 1
        guard skippedInARow >= Self.mostSkippedInARow else { return }
        let reason = damage ?? EncoderError(.beforeIDR)
        session.fail(
            EncoderError(
                .unsupported(
                    "\(skippedInARow) pictures in a row could not be used (\(reason)); try another --format"))
        )
    }
}

// MARK: The thread

extension EncodeStage {
    /// Starts the encode thread.
    /// - Returns: false if the system allows no more threads.
    func start() -> Bool {
        thread = WorkerThread { [self] in
            run()
            isFinished.store(true, ordering: .releasing)
        }
        return thread != nil
    }

    /// Waits until everything is encoded.
    func join() {
        if let thread = thread.take() { thread.join() }
    }

    /// Whether everything is encoded.
    var hasFinished: Bool { isFinished.load(ordering: .acquiring) }
}
