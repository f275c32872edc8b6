import Bitstream
import CamPictures
import CamPlatform
import CamSound
import Capture
import Encoder
import Synchronization
import CamStorage
import Containers

/// A running recording: a capture thread, an encode thread, and a writer for each output.
///
/// Created and finished by one thread; `stop` and the counters may be used from any. A failure ends only what
/// depends on it: an output ends alone, an encoder ends its outputs, the source ends everything. When the
/// last output ends, so does the source.
package final class Recording {
    /// The source's counters.
    package let counters: Counters<CaptureCounter>
    /// The counters of each track's encoder.
    package let encoderCounters: [Counters<EncoderCounter>]
    /// The outputs in the order given to `init`.
    package let outputs: [RecordingOutput]
    /// Raised when all outputs have ended and `finish` will not block.
    package let ended: CancellationFlag
    /// The detected motion; nil without motion detection.
    package let motion: MotionLog?

    /// Whether capture times use this machine's clock.
    let isLive: Bool
    /// Takes pictures out of the recording.
    let stills: StillRequest
    /// The source as it was opened.
    let source: RecordingOutcome.Source

    private let stopWish: RecordingStop
    private let tracks: [EncodeTrack]
    private let capturing: Capturing
    private let session: CompressionSession
    private let encode: EncodeStage
    /// The sound; nil without sound.
    private let sound: SoundTrack?

    /// Starts recording.
    /// - Parameters:
    ///   - capturing: the source of the pictures.
    ///   - session: has not encoded yet; each of its renditions has at least one output.
    ///   - outputs: in any order; each takes the stream of its rendition, which must exist.
    ///   - motion: how to detect the motion that triggers rings; the encoders must make thumbnails.
    ///   - sound: the sound, for the outputs that take sound.
    ///   - segments: when the outputs begin a new file, always with a keyframe.
    ///   - reportRestart: called on the encode thread.
    ///   - report: called on a writer's thread or the encode thread when an output changes while others
    ///     continue.
    package init(
        from capturing: Capturing, session: CompressionSession, to plans: [OutputPlan],
        segments: SegmentSchedule? = nil, control: RecordingControl = RecordingControl(),
        limits: RecordingLimits, motion: MotionPlan? = nil, sound: SoundPlan? = nil,
        reportRestart: EncoderRestartReport? = nil,
        report: @escaping @Sendable (OutputEvent) -> Void = { _ in }
    ) throws(RecordingError) {
        guard let ended = CancellationFlag() else { throw .noResources }
        self.ended = ended
        self.capturing = capturing
        (counters, stopWish) = (capturing.counters, capturing.stop)
        (stills, source) = (capturing.stills, capturing.source)
        let (isLive, frames) = (capturing.isLive, capturing.frames)
        self.isLive = isLive
        let pictureSinks = plans.count { $0.sink.takesPictures }
        let outputs = plans.map { plan in
            let holdsUpOthers = pictureSinks > (plan.sink.takesPictures ? 1 : 0)
            // Only a camera loses pictures while it waits.
            return RecordingOutput(
                plan, measuresLatency: isLive, control: control,
                patience: isLive && holdsUpOthers ? RecordingOutput.usualPatience : nil, report: report)
        }
        self.outputs = outputs
        self.sound = sound.flatMap { SoundTrack($0, outputs: outputs, control: control) }
        self.session = session
        session.clock = capturing.stop
        let tracks = session.renditions.map { rendition in
            EncodeTrack(
                rendition,
                outputs: outputs.indices.filter { plans[$0].rendition == rendition.index }.map {
                    outputs[$0]
                },
                segments: segments, clock: capturing.stop, reportRestart: reportRestart)
        }
        // Where all renditions have rates of their own, commands change those of the first.
        tracks.first?.rendition.followsRateChanges =
            tracks.first?.hasOwnRates == false || tracks.allSatisfy(\.hasOwnRates)
        self.tracks = tracks
        encoderCounters = self.tracks.map(\.counters)
        let ahead = ConversionAhead(frames, limit: Self.conversions(of: capturing)) { _ in !control.isPaused }
        let motionWatch = motion.map { MotionWatch($0, control: control) }
        self.motion = motionWatch?.log
        encode = EncodeStage(
            session, tracks: tracks, limits: limits, frames: frames, ahead: ahead,
            counters: capturing.counters, stop: capturing.stop, control: control, motion: motionWatch,
            demand: capturing.demand)
        try start(limits.sourceDuration, ahead, report)
    }

    /// How many pictures may be converted at the same time: a camera whose driver granted few buffers needs
    /// them.
    private static func conversions(of capturing: Capturing) -> Int {
        min(Processors.count, capturing.isLive ? capturing.bufferCount - 5 : 1)
    }

    /// Starts all threads or none.
    private func start(
        _ duration: Duration?, _ ahead: ConversionAhead,
        _ report: @escaping @Sendable (OutputEvent) -> Void
    ) throws(RecordingError) {
        let unfinished = Countdown(outputs.count)
        let areWriting = outputs.allSatisfy { output in
            output.start { [stopWish, ended] failure in
                guard unfinished.countDown() else {
                    if let failure { report(.failed(failure)) }
                    return
                }
                stopWish.request()
                ended.raise()
            }
        }
        // Capturing begins before encoding: the encoder makes room for another picture as soon as it takes
        // the first.
        if areWriting { capturing.begin(duration: duration, ahead: ahead) }
        let isEncoding = areWriting && encode.start()
        let isRecordingSound = isEncoding && sound?.start() != false
        if isRecordingSound, capturing.start() { return }
        stopWish.request()
        capturing.frames.close()
        for output in outputs { output.closeAll() }
        if isEncoding { encode.join() }
        sound?.join()
        for output in outputs { output.join() }
        throw .noResources
    }

    /// Whether the requested number of frames is encoded.
    package func hasAllFrames(of limits: RecordingLimits) -> Bool {
        func isReached(_ track: EncodeTrack) -> Bool { limits.isReached(byFrames: track.counters[.encoded]) }
        let counting = tracks.filter { !$0.hasOwnFrameRate }
        return counting.isEmpty ? tracks.allSatisfy(isReached) : counting.contains(where: isReached)
    }

    /// Whether every file has ended, and only live outputs continue.
    package var servesOn: Bool {
        let files = outputs.filter { !$0.choice.isLive }
        let hasEnded = !files.isEmpty && files.allSatisfy(\.hasEnded)
        return hasEnded && files.count < outputs.count && !ended.isRaised
    }

    /// Whether an output still has something to write.
    package var hasUnwritten: Bool { outputs.contains(where: \.hasUnwritten) }

    /// Whether the camera is off, because there is no viewer.
    package var isCameraOff: Bool { demand?.isCameraOff == true }

    /// Whether the camera is on only while somebody watches.
    package var isOnDemand: Bool { demand != nil }

    /// Whether the camera is wanted; nil if it always is.
    var demand: CameraDemand? { capturing.demand }

    /// Whether no more pictures are captured; encoders may still hold some back.
    package var isCaptured: Bool { capturing.frames.hasClosed }

    /// Whether everything is encoded and only writing is left.
    package var isEncoded: Bool { encode.hasFinished }

    /// Ends the recording; captured pictures are still encoded and written.
    package func stop() {
        stopWish.request()
    }

    /// Abandons the outputs that have not ended: `finish` does not wait for their writers. Do not use their
    /// sinks afterwards.
    package func abandonOutputs() {
        stopWish.request()
        for output in outputs { output.abandon() }
    }

    private var hasAbandonedThread: Bool {
        sound?.hasHungThread == true || session.hasHungThread || outputs.contains(where: \.isAbandoned)
    }

    /// Waits for the recording to end and returns its outcome.
    package func finish() -> RecordingOutcome {
        let captured = capturing.join()
        encode.join()
        sound?.join()
        for output in outputs { output.join() }
        return RecordingOutcome(
            capture: captured.error, source: captured.source,
            tracks: tracks.map(RecordingOutcome.Track.init),
            outputs: outputs.map(\.outcome), sound: sound?.outcome,
            start: isLive ? tracks.compactMap(\.start).min() : nil,
            hasReachedCut: tracks.contains(where: \.hasReachedCut),
            hasHungThread: hasAbandonedThread)
    }
}

extension RecordingOutcome.Track {
    fileprivate init(_ track: EncodeTrack) {
        let rendition = track.rendition
        (codec, choice, counters) = (rendition.codec, rendition.choice, rendition.counters)
        error = rendition.error
        let count = track.counters[.encoded]
        statedRate = track.statedRate
        measuredRate = track.span.flatMap { span in
            let duration = (span.upperBound - span.lowerBound - track.pausedTime).inSeconds
            return count > 1 && duration > 0 ? Double(count - 1) / duration : nil
        }
        // The last frame lasts as long as the others on average.
        rate = track.rateOutcome(seconds: measuredRate.map { Double(count) / $0 })
    }
}

/// Determines which of several threads finishes last.
private final class Countdown: Sendable {
    private let left: Atomic<Int>

    init(_ count: Int) { left = Atomic(count) }

    /// Returns true for the last thread.
    func countDown() -> Bool { left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}

extension StreamDescription {
    /// Describes an open encoder's stream for a container.
    package init(_ stream: EncodedStream, codec: Codec, by choice: EncoderChoice?) {
        self.init(
            codec: codec, width: stream.size.width, height: stream.size.height,
            frameRate: stream.frameRate, reordering: stream.bFrames, color: stream.color,
            pixelAspect: stream.pixelAspect, encoder: choice?.details?.implementation)
        playbackRate = stream.playbackRate
    }
}

/// The reason a recording ended early. `description` is one line: subject, cause, next step.
package enum RecordingError: Error, Sendable, Equatable, CustomStringConvertible {
    case capture(CaptureError)
    case encoder(EncoderError)
    case output(OutputError)
    /// A file that the recording needs cannot be read.
    case input(InputError)
    /// Sound cannot be coded.
    case sound(SoundError)
    /// The system allows no more threads or descriptors.
    case noResources

    package var description: String {
        switch self {
        case .capture(let error): error.description
        case .encoder(let error): error.description
        case .output(let error): error.description
        case .input(let error): error.description
        case .sound(let error): error.description
        case .noResources: "the system allows no more threads or open files; raise 'ulimit -u' or 'ulimit -n'"
        }
    }
}
