import CamPictures
import CamPlatform
import Encoder

/// The encode thread's work: the only owner of the codecs. Passes each picture to every track.
final class EncodeStage: @unchecked Sendable {
    // Safe to share: it belongs to the encode thread. If that thread hangs in a call and is abandoned, it
    // passes to the replacement thread, because the watch keeps the hanging one from returning.

    /// Guards every call that may hang.
    let watch: CallWatch
    let tracks: [EncodeTrack]
    let frames: BoundedQueue<PixelBuffer>
    let ahead: ConversionAhead
    let counters: Counters<CaptureCounter>
    let stop: RecordingStop
    let limits: RecordingLimits
    let control: RecordingControl
    private let motion: MotionWatch?
    /// The picture being encoded.
    private var currentPicture: PixelBufferClaim?
    private var hangs = 0
    /// The encoder failures, output waits and drops counted up to the last picture.
    private var lastFailures = 0
    private var lastWaits = 0
    private var lastDropped = 0
    private var isDraining = false
    private var firstTimestamp: Instant?
    private var skippedInARow = 0
    /// The timestamp of the first picture dropped in the current pause.
    private var pauseStart: Instant?
    /// The source generation and format of the last picture.
    private var lastRun = 0
    private var format: PictureFormat?
    /// For each track, whether the current picture is ready to be encoded.
    private var areReady: [Bool]
    /// More than the keyframe interval of any camera that sends keyframes regularly.
    private static let mostSkippedInARow = 900
    /// Each hung thread leaks its stack and session; after this many, hardware drivers are no longer used.
    private static let mostHangs = 8

    /// - Parameters:
    ///   - format: the format that the encoders were opened for.
    ///   - motion: watches the pictures; nil without motion detection.
    init(
        tracks: [EncodeTrack], watch: CallWatch, limits: RecordingLimits, frames: BoundedQueue<PixelBuffer>,
        ahead: ConversionAhead, counters: Counters<CaptureCounter>, stop: RecordingStop,
        control: RecordingControl, format: PictureFormat? = nil, motion: MotionWatch? = nil
    ) {
        self.format = format
        self.tracks = tracks
        self.watch = watch
        self.limits = limits
        self.frames = frames
        self.ahead = ahead
        self.counters = counters
        self.stop = stop
        self.control = control
        self.motion = motion
        areReady = Array(repeating: false, count: tracks.count)
        publishRateChanges()
    }

    /// Runs until the source has ended and every picture is encoded, or every encoder has failed for good.
    func run() {
        while let picture = ahead.pop() {
            currentPicture = picture.buffer.claim
            if limits.servesOn, isTooLate(picture.buffer.timestamp) {
                for track in tracks { track.endFiles() }
            }
            if isComplete(at: picture.buffer.timestamp) {
                stop.request()
                for track in tracks { track.endPicture(isLost: false) }
            } else if control.isPaused {
                pause(at: picture.buffer.timestamp)
            } else {
                encode(picture)
            }
            currentPicture = nil
            countDrops()
        }
        isDraining = true
        ahead.stop()
        for track in tracks { track.finish() }
        motion?.finish()
    }

    /// Continues in place of a hung thread. If the recording is ending, opens no other encoder, because any
    /// of them might hang.
    func resumeAfterHang() {
        replaceEncoders(isLast: isDraining || stop.isRequested)
        countDrops()
        run()
    }

    /// Ends everything in place of a hung thread, if no replacement thread can be started.
    func giveUpAfterHang() {
        replaceEncoders(isLast: true)
        frames.close()
        _ = frames.removeAll()
        run()
    }

    /// Abandons all encoders, because they share a display and converted pictures. Does not close them, which
    /// might hang as well.
    private func replaceEncoders(isLast: Bool) {
        hangs += 1
        for track in tracks { track.abandonEncoder(hasPicture: currentPicture != nil) }
        currentPicture?.giveBack()
        currentPicture = nil
        for track in tracks {
            track.replaceEncoder(isLast: isLast, areDriversGivenUp: hangs >= Self.mostHangs)
        }
    }

    /// Attributes drops since the last picture to an encoder's failure or a full output queue, if there was
    /// one, rather than to slow encoding.
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

    private func isComplete(at timestamp: Instant) -> Bool {
        tracks.allSatisfy(isComplete) || !limits.servesOn && isTooLate(timestamp)
    }

    private func isTooLate(_ timestamp: Instant) -> Bool {
        firstTimestamp.map { limits.isReached(at: timestamp, since: $0) } ?? false
    }

    /// Whether a track needs no more frames.
    private func isComplete(_ track: EncodeTrack) -> Bool {
        track.isOver || !servesOn(track) && limits.isReached(byFrames: track.frameNumber)
    }

    /// Whether a track continues for its live outputs when its files have ended.
    private func servesOn(_ track: EncodeTrack) -> Bool { limits.servesOn && track.isLive }

    /// Publishes the rate changes that every track supports.
    private func publishRateChanges() {
        var possible = RateChanges(rawValue: ~0)
        for track in tracks where !track.isOver { possible.formIntersection(track.rateChanges) }
        control.publishRateChanges(possible)
    }

    private func pause(at timestamp: Instant) {
        firstTimestamp = firstTimestamp ?? timestamp
        // Pictures from before the pause reach the outputs now, however long the pause lasts.
        if pauseStart == nil {
            for track in tracks { track.returnHeldBack() }
            motion?.finish()
        }
        pauseStart = pauseStart ?? timestamp
        counters.add(to: .paused)
    }

    private func encode(_ picture: consuming ConversionAhead.Picture) {
        let wantsKeyframe = follow(picture.buffer)
        var (isTaken, damage) = (false, EncoderError?.none)
        for track in tracks { if wantsKeyframe { track.requestKeyframe() } }
        // All conversions come before any encoding, so that the next picture can be converted during the
        // encoding.
        for index in tracks.indices {
            areReady[index] = false
            guard damage == nil, !isComplete(tracks[index]) else { continue }
            switch tracks[index].prepare(picture.buffer, in: picture.slot) {
            case nil:
                areReady[index] = true
                if let thumbnail = tracks[index].thumbnail { motion?.take(thumbnail, of: picture.buffer) }
            case .taken: isTaken = true
            case .unused: break
            case .damaged(let error): damage = isTaken || areReady.contains(true) ? nil : error
            }
        }
        ahead.offer { number, slots in
            for track in tracks where !isLast(track) {
                if let slot = track.slot(number) { slots.append(slot) }
            }
        }
        for index in tracks.indices where areReady[index] && damage == nil {
            switch tracks[index].encode(picture.buffer) {
            case .taken: isTaken = true
            case .unused: break
            case .damaged(let error): damage = isTaken ? nil : error
            }
        }
        for track in tracks { track.endPicture(isLost: damage != nil) }
        _ = consume picture
        if limits.servesOn {
            for track in tracks where limits.isReached(byFrames: track.frameNumber) { track.endFiles() }
        }
        if damage != nil { counters.add(to: .corrupt) }
        if isTaken { skippedInARow = 0 } else { skip(damage) }
        // Once the last frame is encoded, the source can stop without capturing another. The cut of one track
        // ends all tracks: the cuts of the others are close, or too far away to wait for (segments by size).
        if tracks.allSatisfy(isComplete) || tracks.contains(where: \.hasReachedCut) { stop.request() }
        motion?.look()
    }

    /// Whether a track takes no picture after the current one.
    private func isLast(_ track: EncodeTrack) -> Bool {
        track.isOver || !servesOn(track) && limits.isReached(byFrames: track.frameNumber + 1)
    }

    /// Follows what has changed since the last picture: rates, a pause, the source.
    /// - Returns: whether a keyframe is wanted.
    private func follow(_ buffer: borrowing PixelBuffer) -> Bool {
        firstTimestamp = firstTimestamp ?? buffer.timestamp
        if let rate = control.takeBitRate() {
            for track in tracks { track.changeRate(.average(rate)) }
        }
        if let rate = control.takeMaximumBitRate() {
            for track in tracks { track.changeRate(.maximum(rate)) }
        }
        publishRateChanges()
        if control.endsAtCut { for track in tracks { track.endAtCut() } }
        let pauseStart = pauseStart.take()
        if let pauseStart { for track in tracks { track.skipTime(buffer.timestamp - pauseStart) } }
        let isResumed = buffer.run != lastRun || pauseStart != nil
        lastRun = buffer.run
        followFormat(of: buffer)
        return control.takeKeyframe() || isResumed
    }

    /// Reopens every encoder if a source came back with another format. Closes all of them first, because
    /// they share resources.
    private func followFormat(of buffer: borrowing PixelBuffer) {
        defer { format = buffer.format }
        guard let format, format !== buffer.format else { return }
        for track in tracks { track.endSource() }
        for track in tracks { track.beginSource(buffer.format) }
    }

    /// A single unusable picture is harmless; too many in a row end the recording.
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

// MARK: The encode thread

/// The encode thread, replaced whenever it hangs in a driver.
final class EncodeThread: @unchecked Sendable {
    // Safe to share: mutable state is accessed with the lock held, except `detector`, which belongs to the
    // watchdog, and `watchdog` itself, which belongs to the creator.
    private let stage: EncodeStage
    private let monitor = Monitor()
    private var isFinished = false
    private var abandonedCount = 0
    private var detector: CallWatch.Watchdog
    private var watchdog: WorkerThread?
    private let isWatched: Bool

    private static let tick = Duration.seconds(1)

    /// - Parameter isWatched: false if the caller calls `look` itself.
    init(_ stage: EncodeStage, isWatched: Bool = true) {
        self.stage = stage
        self.isWatched = isWatched
        detector = CallWatch.Watchdog(stage.watch)
    }

    /// Starts the thread and its watchdog.
    /// - Returns: false if the system allows no more threads.
    func start() -> Bool {
        guard startWorker({ $0.run() }) else {
            finish()
            return false
        }
        // Without a watchdog a hang goes unnoticed; everything else still works.
        if isWatched { watchdog = WorkerThread { self.watch() } }
        return true
    }

    /// Waits until everything is encoded, but not for hung threads.
    func join() {
        monitor.withLock {
            while !isFinished { monitor.wait() }
        }
        if let watchdog = watchdog.take() { watchdog.join() }
    }

    /// Whether everything is encoded.
    var hasFinished: Bool { monitor.withLock { isFinished } }

    /// Whether a thread still hangs, in which case exit handlers may hang too.
    var hasAbandoned: Bool { monitor.withLock { abandonedCount > 0 } }

    /// Checks for a hang; the watchdog calls it once a second.
    func look() {
        guard detector.tick() else { return }
        monitor.withLock { abandonedCount += 1 }
        if startWorker({ $0.resumeAfterHang() }) { return }
        stage.giveUpAfterHang()
        finish()
    }

    private func watch() {
        while !hasFinished(by: .now + Self.tick) { look() }
    }

    private func hasFinished(by time: Instant) -> Bool {
        monitor.withLock {
            while !isFinished, .now < time { monitor.wait(until: time) }
            return isFinished
        }
    }

    private func startWorker(_ work: @escaping @Sendable (EncodeStage) -> Void) -> Bool {
        guard
            let worker = WorkerThread(body: { [self] in
                work(stage)
                finish()
            })
        else { return false }
        worker.detach()
        return true
    }

    private func finish() {
        monitor.withLock {
            isFinished = true
            monitor.signal()
        }
    }
}
