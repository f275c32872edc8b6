import CamPictures
import CamPlatform
import Capture

/// Keeps a source running: restarts or reopens a failed stream, as the error's `recovery` says, until it
/// delivers pictures or patience runs out. Belongs to the capture thread.
struct SupervisedSource {
    private(set) var stream: any CaptureStream
    private let source: RecordingSource
    private let frames: BoundedQueue<PixelBuffer>
    private let counters: Counters<CaptureCounter>
    private let stop: any SourceStop
    private let beginning: RecordingBeginning
    private var countedLosses = CaptureLosses()
    private var firstTimestamp: Instant?
    private var lastTimestamp: Instant?
    private var run = 0
    private var outage: Outage?
    /// After twenty seconds of streaming a source counts as recovered.
    private var backOff = BackOff(first: .milliseconds(100), longest: .seconds(2), steadiness: .seconds(20))
    private var nextTry = Instant.distantPast
    private var messages = MessageLimit()
    private var standstillMessages = MessageLimit()
    private var standstills: StandstillWatch
    /// When the latest standstill was noticed.
    private var standstillEnd: Instant?
    /// The time of the stream's latest delivery.
    private var lastDelivery: Instant
    private var hasReportedStanding = false
    private var hasReportedJump = false

    /// The time from a failure to the next picture.
    private struct Outage {
        let cause: CaptureError
        let start: Instant
        /// The number of outages since the last one that a user was told of; nil if users are not told of this one.
        let suppressed: Int?
        var tries = 0
    }

    /// A failure within this time after a standstill counts as its consequence.
    private static let aftermath = Duration.seconds(5)
    /// The time that the encoder needs for the pictures that came during a standstill.
    private static let catchUpTime = Duration.seconds(1)

    /// How long to wait for a failed stream's buffers. An encoder that keeps one longer hangs.
    private static let bufferPatience = Duration.seconds(3)

    init(
        _ source: RecordingSource, frames: BoundedQueue<PixelBuffer>, counters: Counters<CaptureCounter>,
        stop: any SourceStop, beginning: RecordingBeginning
    ) {
        self.source = source
        self.frames = frames
        self.counters = counters
        self.stop = stop
        self.beginning = beginning
        stream = source.stream
        standstills = StandstillWatch(stop)
        lastDelivery = stop.now
    }

    /// Starts the source. A camera that was unplugged since it was opened is waited for; any other failure of
    /// the first start ends the recording.
    /// - Returns: false if the recording should end first.
    mutating func start() throws(CaptureError) -> Bool {
        do throws(CaptureError) {
            if let demand = source.demand, !demand.isWanted, try !turnOff(demand) { return false }
            try startStream()
            return true
        } catch {
            // Others may use a camera that is off.
            guard error.isAbsence || source.demand != nil else { throw error }
            return try recover(from: error)
        }
    }

    /// Whether the pictures that waited during a standstill are still being encoded.
    var isCatchingUp: Bool { standstillEnd.map { stop.now < $0 + Self.catchUpTime } ?? false }

    /// Waits for the next picture, up to the source's timeout.
    mutating func nextBuffer() throws(CaptureError) -> NextBuffer {
        while true {
            do throws(CaptureError) {
                if let demand = source.demand, !demand.isWanted {
                    guard try turnOff(demand) else { return .interrupted }
                    try startStream()
                    run += 1
                }
                let next = try stream.nextBuffer()
                countLosses()
                switch consume next {
                case .buffer(var buffer):
                    buffer.run = run
                    noteStandstill(noticedBy: buffer.timestamp)
                    noteDelivery(at: buffer.timestamp)
                    return .buffer(buffer)
                case .end: return .end
                case .interrupted: return .interrupted
                }
            } catch {
                countLosses()
                noteStandstill(noticedBy: nil)
                guard try recover(from: error) else { return .interrupted }
            }
        }
    }

    /// Stops the source for good.
    mutating func end() {
        stream.stop()
        if let outage {
            let lost = countLostTime(since: outage, until: stop.now)
            counters.add(Int(lost.inMilliseconds), to: .millisecondsAwayAtEnd)
        }
        outage = nil
    }

    /// Records a standstill of the process or the machine before the stream delivered.
    /// - Parameter timestamp: the capture time of the delivered picture; nil if the stream failed.
    private mutating func noteStandstill(noticedBy timestamp: Instant?) {
        guard stream.isLive else { return }
        let now = stop.now
        // A picture that arrived long ago was not taken because nothing ran.
        let late = timestamp.map { now - max($0, lastDelivery) } ?? .zero
        lastDelivery = now
        let usual = stream.format.frameRate.frameDuration * 2
        guard let standstill = standstills.look(stop, late: late, usual: usual) else { return }
        standstillEnd = now
        counters.add(to: .standstills)
        counters.add(to: .outages)
        let milliseconds = Int(standstill.duration.inMilliseconds)
        switch standstill {
        case .suspended: counters.add(milliseconds, to: .millisecondsSuspended)
        case .stopped: counters.add(milliseconds, to: .millisecondsStopped)
        }
        source.report(.stoodStill(standstill), standstillMessages.admit(at: now) != nil)
    }

    private mutating func noteDelivery(at timestamp: Instant) {
        if let outage {
            let lost = countLostTime(since: outage, until: timestamp)
            let event = SourceEvent.resumed(
                outage.cause, device: stream.identity.device, after: lost,
                suppressed: outage.suppressed ?? 0)
            source.report(event, outage.suppressed != nil)
            self.outage = nil
        }
        if firstTimestamp == nil || !beginning.isRecording { firstTimestamp = timestamp }
        lastTimestamp = timestamp
    }

    @discardableResult private func countLostTime(since outage: Outage, until time: Instant) -> Duration {
        let lost = max(.zero, time - (lastTimestamp ?? outage.start))
        counters.add(Int(lost.inMilliseconds), to: .millisecondsLost)
        return lost
    }

    private mutating func countLosses() {
        let losses = stream.losses
        defer { countedLosses = losses }
        report(losses)
        guard beginning.isRecording else { return }
        counters.add(losses.droppedByDriver - countedLosses.droppedByDriver, to: .droppedByDriver)
        let corrupt = losses.corrupt - countedLosses.corrupt
        counters.add(corrupt, to: .corrupt)
        counters.add(corrupt, to: .captured)
        counters.add(losses.correctedTimes - countedLosses.correctedTimes, to: .correctedTimes)
    }
}

// MARK: Times

extension SupervisedSource {
    /// Reports wrong times of capture, each kind once.
    private mutating func report(_ losses: CaptureLosses) {
        guard losses.correctedTimes > countedLosses.correctedTimes else { return }
        if losses.haveTimesStood, !hasReportedStanding {
            hasReportedStanding = true
            source.report(.wrongTimes(.standing, device: stream.identity.device), true)
        }
        if let jump = losses.timeJump, !hasReportedJump {
            hasReportedJump = true
            source.report(.wrongTimes(.jumped(jump), device: stream.identity.device), true)
        }
    }
}

// MARK: Recovery

extension SupervisedSource {
    /// Retries until the source streams again.
    /// - Returns: false if the recording should end first.
    private mutating func recover(from failure: CaptureError) throws(CaptureError) -> Bool {
        var failure = failure
        while true {
            guard failure.recovery != .stop, source.reopen != nil else { throw failure }
            var outage = self.outage ?? beginOutage(failure)
            let end = source.timeout.map { outage.start + $0 } ?? .distantFuture
            // A recording whose camera has never delivered lasts from its failure on.
            let last =
                beginning.duration.map { (firstTimestamp ?? outage.start) + $0 } ?? .distantFuture
            if outage.tries == 1, end > stop.now {
                source.report(.waiting(outage.cause, timeout: source.timeout), outage.suppressed != nil)
            }
            backOff.noteSuccess(lasting: stop.now - nextTry)
            // A camera that must only write into other memory has not failed.
            nextTry = stop.now + (failure.kind == .sharingEnded ? .zero : backOff.next())
            if stop.wait(until: min(nextTry, end, last)) { return false }
            if stop.now >= last {
                // Without a single picture there is no recording.
                guard firstTimestamp == nil else { return false }
                throw errorToReport(failure, outage.cause)
            }
            if stop.now >= end { throw errorToReport(failure, outage.cause) }
            outage.tries += 1
            counters.add(to: .sourceTries)
            self.outage = outage
            do throws(CaptureError) {
                try restart(failure.recovery, isFirstTry: outage.tries == 1)
                run += 1
                lastDelivery = stop.now
                counters.add(to: .sourceRestarts)
                return true
            } catch {
                failure = error
            }
        }
    }

    private mutating func beginOutage(_ failure: CaptureError) -> Outage {
        let now = stop.now
        let outage = Outage(cause: failure, start: now, suppressed: messages.admit(at: now))
        self.outage = outage
        source.report(.failed(failure), false)
        let isAftermath = standstillEnd.map { now - $0 < Self.aftermath } ?? false
        if !isAftermath { counters.add(to: .outages) }
        return outage
    }

    /// Prefers the original cause to a mere "not found".
    private func errorToReport(_ failure: CaptureError, _ cause: CaptureError) -> CaptureError {
        failure.kind == .notFound ? cause : failure
    }

    private mutating func restart(
        _ recovery: CaptureError.Recovery, isFirstTry: Bool
    ) throws(CaptureError) {
        guard recovery == .reopenDevice || !isFirstTry, let reopen = source.reopen else {
            try stream.restart()
            return stop.attach(stream.interrupter)
        }
        let format = stream.format
        close()
        stream = try reopen(format)
        countedLosses = CaptureLosses()
        try startStream()
    }

    private func startStream() throws(CaptureError) {
        try stream.start()
        // Attach after starting, which may replace the buffers.
        stop.attach(stream.interrupter)
    }

    /// Turns the camera off, and on again as soon as it is wanted; the stream is then ready to start.
    /// - Returns: false if the recording should end first.
    private mutating func turnOff(_ demand: CameraDemand) throws(CaptureError) -> Bool {
        let (start, format) = (stop.now, stream.format)
        close()
        source.report(.turnedOff(device: stream.identity.device), true)
        let end = beginning.duration.flatMap { duration in firstTimestamp.map { $0 + duration } }
        let isWanted = demand.waitForViewer(until: end ?? .distantFuture)
        counters.add(Int((stop.now - start).inMilliseconds), to: .millisecondsOff)
        guard isWanted else { return false }
        lastDelivery = stop.now
        counters.add(to: .turnedOn)
        source.report(.turnedOn(device: stream.identity.device), true)
        guard let reopen = source.reopen else { return true }
        stream = try reopen(format)
        countedLosses = CaptureLosses()
        return true
    }

    /// Lets captured pictures be encoded before the device is released, unless the encoder hangs.
    private func close() {
        stream.stop()
        if !stream.awaitBuffers(until: stop.now + Self.bufferPatience) {
            counters.add(frames.removeAll(), to: .droppedByUs)
        }
        stream.releaseDevice()
    }
}

// MARK: The source and what it reports

/// Reopens a source, for a stream that continues one of this format.
package typealias SourceFactory = (PictureFormat) throws(CaptureError) -> any CaptureStream

/// The source of a recording's pictures.
package struct RecordingSource {
    /// Already open, so that a failure is reported before recording starts.
    package var stream: any CaptureStream
    /// Reopens the source after it disappeared; nil to end the recording with it. Called on the capture
    /// thread.
    package var reopen: SourceFactory?
    /// How long the source may be without pictures; nil for forever, zero for not at all.
    package var timeout: Duration?
    /// Whether the source is wanted; nil if it always is. It must be one that can be reopened, or started again.
    package var demand: CameraDemand?
    /// Called on the capture thread when the source disappears and when it is back; not to be told to a user if
    /// such an event was told of shortly before.
    package var report: (SourceEvent, _ isTold: Bool) -> Void

    /// Creates a source whose failure ends the recording, unless it can be reopened.
    package init(
        _ stream: any CaptureStream, reopen: SourceFactory? = nil, timeout: Duration? = .zero,
        report: @escaping (SourceEvent, _ isTold: Bool) -> Void = { _, _ in }
    ) {
        self.stream = stream
        self.reopen = reopen
        self.timeout = timeout
        self.report = report
    }
}

/// A change in the source during a recording. `description` is one line.
package enum SourceEvent: Sendable, Equatable, CustomStringConvertible {
    /// The source failed, and is restarted or reopened at once.
    case failed(CaptureError)
    /// The source disappeared and did not come back immediately.
    /// - Parameter timeout: how long camrec waits for it; nil forever.
    case waiting(CaptureError, timeout: Duration?)
    /// The source delivers pictures again.
    /// - Parameters:
    ///   - device: its current path.
    ///   - after: the time without pictures.
    ///   - suppressed: of how many such events before this one no message told.
    case resumed(CaptureError, device: String, after: Duration, suppressed: Int)
    /// The process or the machine stood still, and the source delivers again.
    case stoodStill(Standstill)
    /// The camera was turned off, because there is no viewer.
    case turnedOff(device: String)
    /// The camera was turned on, because somebody watches.
    case turnedOn(device: String)
    /// The driver's times of capture are wrong and are corrected.
    case wrongTimes(TimestampFault, device: String)

    /// Whether to report it even if the recording succeeds in the end.
    package var isWarning: Bool {
        switch self {
        case .turnedOff, .turnedOn: false
        default: true
        }
    }

    package var description: String {
        switch self {
        case .turnedOff(let device): "\(device): off, because nobody is watching"
        case .turnedOn(let device): "\(device): on"
        case .failed(let error): "\(error.device): \(error.reason); trying again"
        case .waiting(let error, let timeout):
            "\(error.device): \(error.reason); waiting for it"
                + (timeout.map { " for \($0.inMilliseconds / 1000) s" } ?? " as long as it takes")
        case .resumed(let error, let device, let time, let suppressed):
            "\(error.device): \(error.reason); recording continues"
                + (device == error.device ? "" : " from \(device)")
                + " after \(Self.decimal(time)) s without a picture"
                + (suppressed == 0 ? "" : " (\(suppressed + 1) times since last reported)")
        case .stoodStill(.suspended(let duration)):
            "the machine was suspended for \(Self.decimal(duration)) s; recording continues"
        case .stoodStill(.stopped(let duration)):
            "camrec was stopped for \(Self.decimal(duration)) s; recording continues"
        case .wrongTimes(.standing, let device):
            "\(device): its driver repeats the same time of capture; recording continues with the times of arrival"
        case .wrongTimes(.jumped(let jump), let device):
            "\(device): its driver's time of capture jumped \(jump < .zero ? "back" : "ahead") by "
                + "\(Self.decimal(jump.magnitude)) s; recording continues with corrected times"
        }
    }

    private static func decimal(_ duration: Duration) -> Double { Double(duration.inMilliseconds / 100) / 10 }
}
