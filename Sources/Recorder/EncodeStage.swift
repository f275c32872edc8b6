import Bitstream
import Capture
import Encoder

/// The encode thread's work: the only owner of the codec.
struct EncodeStage {
    /// Opens an encoder, at the start and after a failure.
    typealias EncoderFactory = () throws(EncoderError) -> any PictureEncoder

    let frames: BoundedQueue<PixelBuffer>
    let units: BoundedQueue<AccessUnit>
    let counters: RecordingCounters
    let interrupter: CaptureInterrupter
    let limits: RecordingLimits
    let makeEncoder: EncoderFactory
    let pauses: any RestartPauses
    let keyframeRequest: KeyframeRequest
    var encoder: (any PictureEncoder)?
    var policy: KeyframePolicy
    private var restarts = RestartLimit()
    private var firstTimestamp: Int64?
    private var skippedInARow = 0
    /// More than the keyframe interval of any camera that means to have one.
    private static let mostSkippedInARow = 900
    /// Frames given to the encoder that have come to no end yet.
    private var framesInEncoder = 0

    init(
        encoder: any PictureEncoder, makeEncoder: @escaping EncoderFactory, keyframeInterval: Int,
        limits: RecordingLimits, frames: BoundedQueue<PixelBuffer>, units: BoundedQueue<AccessUnit>,
        counters: RecordingCounters, interrupter: CaptureInterrupter, pauses: any RestartPauses,
        keyframeRequest: KeyframeRequest
    ) {
        self.keyframeRequest = keyframeRequest
        self.encoder = encoder
        self.makeEncoder = makeEncoder
        policy = KeyframePolicy(interval: keyframeInterval)
        self.limits = limits
        self.frames = frames
        self.units = units
        self.counters = counters
        self.interrupter = interrupter
        self.pauses = pauses
    }

    /// Runs until the source has ended and everything is encoded, or the encoder fails for good.
    mutating func run() -> RecordingError? {
        defer { units.close() }
        do throws(EncoderError) {
            while let buffer = frames.pop() {
                if isComplete(at: buffer.timestamp) {
                    interrupter.interrupt()
                    counters.add(to: .unused)
                } else {
                    try encode(buffer)
                }
            }
            try drain()
            return nil
        } catch {
            interrupter.interrupt()
            // What the encoder holds back may still come out; that it does not changes nothing any more.
            if error.recovery == .stop { try? drain() }
            countLostFrames()
            while let unused = frames.pop() {
                _ = consume unused
                counters.add(to: .unused)
            }
            return .encoder(error)
        }
    }

    private func isComplete(at timestamp: Int64) -> Bool {
        if let count = limits.frames, policy.frameNumber >= count { return true }
        if let duration = limits.duration, let firstTimestamp {
            return timestamp - firstTimestamp >= duration
        }
        return false
    }

    private mutating func encode(_ buffer: consuming PixelBuffer) throws(EncoderError) {
        guard let encoder else {
            counters.add(to: .unused)
            return
        }
        firstTimestamp = firstTimestamp ?? buffer.timestamp
        if keyframeRequest.take() { policy.request() }
        do throws(EncoderError) {
            framesInEncoder += 1
            try encoder.encode(buffer, as: policy.nextKind, frameNumber: policy.frameNumber)
            _ = consume buffer
            policy.advance()
            skippedInARow = 0
            try forwardAccessUnits()
        } catch {
            switch error.recovery {
            case .skipFrame: try skip(error)
            case .rebuildEncoder: try rebuild(after: error)
            case .stop: throw error
            }
        }
        // As soon as the last frame is in, the source can stop: no frame more is needed to find that out.
        if let count = limits.frames, policy.frameNumber >= count { interrupter.interrupt() }
    }

    /// One picture that cannot be used does no harm; none that can is the end.
    private mutating func skip(_ error: EncoderError) throws(EncoderError) {
        framesInEncoder -= 1
        if case .beforeIDR = error.kind { counters.add(to: .unused) } else { counters.add(to: .corrupt) }
        skippedInARow += 1
        guard skippedInARow < Self.mostSkippedInARow else {
            throw EncoderError(
                .unsupported(
                    "\(skippedInARow) pictures in a row could not be used (\(error)); try another --format"))
        }
    }

    private mutating func forwardAccessUnits() throws(EncoderError) {
        while let unit = try encoder?.nextAccessUnit() {
            framesInEncoder -= 1
            counters.add(to: .encoded)
            // A closed queue is a failed output, which stops the source by itself.
            _ = units.push(unit, cost: unit.count)
        }
    }

    private mutating func drain() throws(EncoderError) {
        try encoder?.drain()
        try forwardAccessUnits()
        countLostFrames()
        encoder = nil
    }

    /// What is still in the encoder will never come out.
    private mutating func countLostFrames() {
        counters.add(framesInEncoder, to: .droppedByEncoder)
        framesInEncoder = 0
    }

    /// Closes the failed session and opens a new one, whose first frame is an IDR. Where the recording is to
    /// end meanwhile there is none any more.
    private mutating func rebuild(after failure: EncoderError) throws(EncoderError) {
        countLostFrames()
        policy.restart(after: counters[.encoded])
        encoder = nil
        var failure = failure
        while restarts.allowsAnother(at: pauses.now()) {
            if let end = restarts.pause(at: pauses.now()), pauses.wait(until: end) { return }
            restarts.count(at: pauses.now())
            counters.add(to: .encoderRestarts)
            do throws(EncoderError) {
                encoder = try makeEncoder()
                return
            } catch {
                if case .exhausted = error.kind { throw failure }
                failure = error
            }
        }
        throw failure
    }
}
