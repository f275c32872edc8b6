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
    let stop: RecordingStop
    var encoder: (any PictureEncoder)?
    var policy: KeyframePolicy
    private var restarts = RestartLimit()
    private var firstTimestamp: Int64?

    init(
        encoder: any PictureEncoder, makeEncoder: @escaping EncoderFactory, keyframeInterval: Int,
        limits: RecordingLimits, frames: BoundedQueue<PixelBuffer>, units: BoundedQueue<AccessUnit>,
        counters: RecordingCounters, interrupter: CaptureInterrupter, stop: RecordingStop
    ) {
        self.encoder = encoder
        self.makeEncoder = makeEncoder
        policy = KeyframePolicy(interval: keyframeInterval)
        self.limits = limits
        self.frames = frames
        self.units = units
        self.counters = counters
        self.interrupter = interrupter
        self.stop = stop
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
        guard let encoder else { return }
        let timestamp = buffer.timestamp
        do throws(EncoderError) {
            try encoder.encode(buffer, as: policy.nextKind, frameNumber: policy.frameNumber)
            _ = consume buffer
            policy.advance()
            firstTimestamp = firstTimestamp ?? timestamp
            try forwardAccessUnits()
        } catch {
            switch error.recovery {
            case .skipFrame: counters.add(to: .corrupt)
            case .rebuildEncoder: try rebuild(after: error)
            case .stop: throw error
            }
        }
        // As soon as the last frame is in, the source can stop: no frame more is needed to find that out.
        if let count = limits.frames, policy.frameNumber >= count { interrupter.interrupt() }
    }

    private func forwardAccessUnits() throws(EncoderError) {
        while let unit = try encoder?.nextAccessUnit() {
            counters.add(to: .encoded)
            // A closed queue is a failed output, which stops the source by itself.
            _ = units.push(unit, cost: unit.count)
        }
    }

    private mutating func drain() throws(EncoderError) {
        try encoder?.drain()
        try forwardAccessUnits()
        if let encoder { counters.add(encoder.pendingCount + encoder.droppedCount, to: .droppedByEncoder) }
        encoder = nil
    }

    /// Closes the failed session and opens a new one, whose first frame is an IDR.
    private mutating func rebuild(after failure: EncoderError) throws(EncoderError) {
        guard let failed = encoder else { return }
        // The frame that failed may or may not have been taken; if it was, it is among those pending.
        let lost = failed.pendingCount + failed.droppedCount
        counters.add(max(1, lost), to: .droppedByEncoder)
        policy.restart(losing: lost)
        encoder = nil
        var failure = failure
        while restarts.allowsAnother(at: MonotonicTime.now()) {
            if let pause = restarts.pause(at: MonotonicTime.now()), stop.wait(until: pause) { throw failure }
            restarts.count(at: MonotonicTime.now())
            counters.add(to: .encoderRestarts)
            do throws(EncoderError) {
                encoder = try makeEncoder()
                return
            } catch {
                failure = error
            }
        }
        throw failure
    }
}
