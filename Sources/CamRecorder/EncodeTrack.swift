import Bitstream
import CamPictures
import CamPlatform
import CamStorage
import Containers
import Encoder

/// Reports that a rendition's encoder failed and another was opened, and how many such failures went
/// unreported since the last.
package typealias EncoderRestartReport = (_ rendition: Rendition, _ cause: EncoderError, _ suppressed: Int) ->
    Void

/// A rendition of the recording and the outputs that take its stream. Belongs to the encode thread, and to any
/// thread that has joined it.
final class EncodeTrack {
    let rendition: Rendition
    /// The earliest to the latest time at which the access units are played.
    private(set) var span: ClosedRange<Instant>?
    /// The wall-clock time at the capture of the first access unit.
    private(set) var start: WallTime?
    /// The part of the span during which the recording was paused.
    private(set) var pausedTime = Duration.zero
    /// The frame rate in the first access unit's VUI.
    private(set) var statedRate: Double?
    /// Whether the track ended where a new file would have begun.
    private(set) var hasReachedCut = false

    /// Whether an output is live: live outputs may continue when files have ended.
    let isLive: Bool
    /// Whether its rates are its own, which changes of the recording's do not concern.
    let hasOwnRates: Bool
    /// Whether it may have fewer frames than the others.
    let hasOwnFrameRate: Bool

    private let outputs: [RecordingOutput]
    /// The outputs that still take access units.
    private var activeOutputs: [RecordingOutput]
    private let clock: any TimeSource
    private var rate = RatePromiseCheck()
    private var encodedBits = 0
    /// When the outputs begin a new file.
    private var segments: SegmentSchedule?
    /// Finds the cuts in what the encoder returns, as the writers do.
    private var cuts: SegmentSchedule?
    /// The start of a rest, during which the rendition has no viewers and is not encoded; the last frame ends there. Nil
    /// while it is encoded.
    private var restStart: Instant?
    private var isCutDue = false
    private var endsAtCut = false
    /// Whether the files have ended and only live outputs continue.
    private var servesOn = false

    /// - Parameter segments: when the outputs begin a new file, always with a keyframe.
    init(
        _ rendition: Rendition, outputs: [RecordingOutput], segments: SegmentSchedule? = nil,
        clock: any TimeSource, reportRestart: EncoderRestartReport? = nil
    ) {
        self.rendition = rendition
        (self.outputs, activeOutputs) = (outputs, outputs)
        (self.segments, cuts) = (segments, segments)
        isLive = outputs.contains(where: \.choice.isLive)
        hasOwnRates = outputs.first?.choice.rendition.hasOwnRates == true
        hasOwnFrameRate = outputs.first?.choice.rendition.frameRate != nil
        rendition.followsRateChanges = !hasOwnRates
        self.clock = clock
        rendition.onAccessUnit = { [unowned self] in take($0) }
        rendition.onEvent = { [unowned self] in
            note($0, reportRestart)
        }
    }

    /// Whether all outputs have ended, or no more access units come.
    var isOver: Bool { rendition.isOver }

    /// The next frame's number.
    var frameNumber: Int { rendition.frameNumber }

    var counters: Counters<EncoderCounter> { rendition.counters }

    /// The number of times that the track waited for an output.
    var waits: Int {
        var count = 0
        for output in outputs { count += output.counters[.waits] }
        return count
    }

    /// Begins a rest with this picture, or ends it with a keyframe.
    func rest(_ mustRest: Bool, at timestamp: Instant, _ session: CompressionSession) {
        switch restStart {
        case nil where mustRest:
            // What the encoder holds back belongs to those who have just left.
            session.returnHeldBack(of: rendition)
            let end = span.map { $0.upperBound + rendition.stream.frameRate.frameDuration }
            restStart = max(timestamp, end ?? timestamp)
        case let start? where !mustRest:
            restStart = nil
            skipTime(max(.zero, timestamp - start))
            rendition.requestKeyframe()
        default: break
        }
    }

    /// Whether the rendition rests, because it has no viewers.
    var isResting: Bool { restStart != nil }

    /// Records a pause.
    func skipTime(_ duration: Duration) {
        // A rest includes it.
        guard !isResting else { return }
        // Skipped pictures add no playing time to a time lapse.
        if frameNumber > 0, rendition.stream.playbackRate == nil { pausedTime += duration }
    }

    /// Returns the rates of the stream. Call only after the encode thread has ended.
    func rateOutcome(seconds: Double?) -> RecordingOutcome.Rate {
        rate.outcome(bits: encodedBits, seconds: seconds)
    }

    /// Ends the track before the first access unit with which its outputs would begin a new file.
    func endAtCut() { endsAtCut = true }

    /// Begins a new file with the next picture if one is due.
    func beginPicture(at timestamp: Instant) {
        guard !isOver else { return }
        if segments?.enters(number: frameNumber, timestamp: timestamp) == true { rendition.requestKeyframe() }
    }

    /// Ends the files with the pictures so far, while the live outputs continue. A track without live outputs
    /// ends.
    func endFiles(_ session: CompressionSession) {
        guard !isOver, !servesOn else { return }
        guard isLive else { return session.finish(rendition) }
        servesOn = true
        segments = nil
        session.returnHeldBack(of: rendition)
        for output in activeOutputs where !output.choice.isLive { output.close() }
        activeOutputs.removeAll { !$0.choice.isLive }
    }
}

// MARK: The rendition's stream

extension EncodeTrack {
    private func take(_ unit: AccessUnit) -> Rendition.Demand {
        if isCut(unit) {
            hasReachedCut = true
            return .none
        }
        let time = rendition.playingTime(ofFrame: unit.frameNumber, capturedAt: unit.timestamp)
        rate.add(unit, playedAt: time)
        encodedBits += unit.count * 8
        if span == nil { begin(with: unit) }
        span = min(span?.lowerBound ?? time, time)...max(span?.upperBound ?? time, time)
        var isWanted = false
        for output in activeOutputs where output.accept(unit) { isWanted = true }
        return isWanted ? .more : .noMore
    }

    /// Whether the recording ends before an access unit, with which its outputs would begin a new file.
    private func isCut(_ unit: AccessUnit) -> Bool {
        if cuts?.enters(unit) == true { isCutDue = true }
        guard unit.isIDR, isCutDue else { return false }
        isCutDue = false
        cuts?.begin(with: unit)
        return endsAtCut
    }

    private func begin(with unit: AccessUnit) {
        statedRate = unit.statedFrameRate?.framesPerSecond
        start = clock.wallTime(at: unit.timestamp)
        segments?.anchor(at: unit.timestamp)
    }

    private func note(_ event: Rendition.Event, _ reportRestart: EncoderRestartReport?) {
        switch event {
        case .opened(let promise): rate.begin(promise)
        case .replaced(let cause, let suppressed): reportRestart?(rendition, cause, suppressed)
        case .changed(let stream):
            let description = StreamDescription(stream, codec: rendition.codec, by: rendition.choice)
            for output in activeOutputs { output.beginStream(description) }
        case .ended: for output in activeOutputs { output.close() }
        }
    }
}
