import Capture
import Pictures
import Threading
import Time

/// A source that is kept going: when its stream fails it is started again or reopened, as the error's
/// `recovery` says, until pictures come or patience ends. Belongs to the capture thread.
struct SupervisedSource {
    private(set) var stream: any CaptureStream
    private let source: RecordingSource
    private let frames: BoundedQueue<PixelBuffer>
    private let counters: Counters<CaptureCounter>
    private let stop: any SourceStop
    /// The time from the first picture after which nobody wants another.
    private let duration: Duration?
    private var countedLosses = CaptureLosses()
    private var firstTimestamp: Instant?
    private var lastTimestamp: Instant?
    private var run = 0
    private var outage: Outage?
    /// A source that worked for twenty seconds is well again.
    private var backOff = BackOff(first: .milliseconds(100), longest: .seconds(2), steadiness: .seconds(20))
    private var nextTry = Instant.distantPast
    private var messages = MessageLimit()

    /// From a failure to the first picture after it.
    private struct Outage {
        let cause: CaptureError
        let start: Instant
        /// How many outages were not told since the last that was; nil where this one is not, either.
        let untold: Int?
        var tries = 0
    }

    /// How long buffers of a failed stream are waited for. An encoder that keeps one longer hangs.
    private static let bufferPatience = Duration.seconds(3)

    init(
        _ source: RecordingSource, frames: BoundedQueue<PixelBuffer>, counters: Counters<CaptureCounter>,
        stop: any SourceStop, duration: Duration?
    ) {
        self.source = source
        self.frames = frames
        self.counters = counters
        self.stop = stop
        self.duration = duration
        stream = source.stream
    }

    /// Begins. A source that cannot even do that the first time ends the recording.
    func start() throws(CaptureError) {
        stop.attach(stream.interrupter)
        try stream.start()
    }

    /// Waits for the next picture, as long as the source may be without.
    mutating func nextBuffer() throws(CaptureError) -> NextBuffer {
        while true {
            do throws(CaptureError) {
                let next = try stream.nextBuffer()
                countLosses()
                switch consume next {
                case .buffer(var buffer):
                    buffer.run = run
                    noteDelivery(at: Instant(nanoseconds: buffer.timestamp))
                    return .buffer(buffer)
                case .end: return .end
                case .interrupted: return .interrupted
                }
            } catch {
                countLosses()
                guard try recover(from: error) else { return .interrupted }
            }
        }
    }

    /// Ends it for good.
    mutating func end() {
        stream.stop()
        if let outage { countLostTime(since: outage, until: stop.now) }
        outage = nil
    }

    private mutating func noteDelivery(at timestamp: Instant) {
        if let outage {
            let lost = countLostTime(since: outage, until: timestamp)
            if let untold = outage.untold {
                source.report(
                    .resumed(
                        outage.cause, device: stream.identity.device, after: lost, untold: untold))
            }
            self.outage = nil
        }
        firstTimestamp = firstTimestamp ?? timestamp
        lastTimestamp = timestamp
    }

    @discardableResult private func countLostTime(since outage: Outage, until time: Instant) -> Duration {
        let lost = max(.zero, time - (lastTimestamp ?? outage.start))
        counters.add(Int(lost.inMilliseconds), to: .millisecondsLost)
        return lost
    }

    private mutating func countLosses() {
        let losses = stream.losses
        counters.add(losses.droppedByDriver - countedLosses.droppedByDriver, to: .droppedByDriver)
        let corrupt = losses.corrupt - countedLosses.corrupt
        counters.add(corrupt, to: .corrupt)
        counters.add(corrupt, to: .captured)
        countedLosses = losses
    }
}

// MARK: Recovery

extension SupervisedSource {
    /// Tries until the source streams again.
    /// - Returns: false where the recording is to end meanwhile.
    private mutating func recover(from failure: CaptureError) throws(CaptureError) -> Bool {
        var failure = failure
        while true {
            var outage = self.outage ?? beginOutage(failure)
            guard failure.recovery != .stop, source.reopen != nil else { throw failure }
            let end = source.timeout.map { outage.start + $0 } ?? .distantFuture
            let last = duration.flatMap { length in firstTimestamp.map { $0 + length } } ?? .distantFuture
            if outage.tries == 1, outage.untold != nil, end > stop.now {
                source.report(.waiting(outage.cause, timeout: source.timeout))
            }
            backOff.noteSuccess(lasting: stop.now - nextTry)
            nextTry = stop.now + backOff.next()
            if stop.wait(until: min(nextTry, end, last)) { return false }
            if stop.now >= last { return false }
            if stop.now >= end { throw told(failure, outage.cause) }
            outage.tries += 1
            counters.add(to: .sourceTries)
            self.outage = outage
            do throws(CaptureError) {
                try restart(failure.recovery, isFirstTry: outage.tries == 1)
                run += 1
                counters.add(to: .sourceRestarts)
                return true
            } catch {
                failure = error
            }
        }
    }

    private mutating func beginOutage(_ failure: CaptureError) -> Outage {
        let now = stop.now
        let outage = Outage(cause: failure, start: now, untold: messages.admit(at: now))
        self.outage = outage
        return outage
    }

    /// That nothing is there now says less than why it went.
    private func told(_ failure: CaptureError, _ cause: CaptureError) -> CaptureError {
        failure.kind == .notFound ? cause : failure
    }

    private mutating func restart(
        _ recovery: CaptureError.Recovery, isFirstTry: Bool
    ) throws(CaptureError) {
        guard recovery == .reopenDevice || !isFirstTry, let reopen = source.reopen else {
            return try stream.restart()
        }
        let format = stream.format
        close()
        stream = try reopen(format)
        countedLosses = CaptureLosses()
        stop.attach(stream.interrupter)
        try stream.start()
    }

    /// What is captured is encoded before the device is given up, unless the encoder hangs.
    private func close() {
        stream.stop()
        if !stream.awaitBuffers(until: (stop.now + Self.bufferPatience).nanoseconds) {
            counters.add(frames.removeAll(), to: .droppedByUs)
        }
        stream.releaseDevice()
    }
}
