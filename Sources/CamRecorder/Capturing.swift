import CamPictures
import CamPlatform
import Capture

/// A source that captures: its thread, and the queue of its pictures.
///
/// A camera needs time until its first picture, and an encoder to open, so a camera can be started before its
/// recording begins. Until then only the latest picture is kept, and nothing counts.
///
/// Belongs to one thread; the parts shared with other threads are thread-safe. It stops when it is released.
package final class Capturing {
    /// The source as it was opened.
    package let source: RecordingOutcome.Source
    let isLive: Bool
    let bufferCount: Int
    let counters = Counters<CaptureCounter>()
    let frames = BoundedQueue<PixelBuffer>(capacity: PixelBufferPool.maximumCount)
    let stop = RecordingStop()
    let stills = StillRequest()
    private let beginning = RecordingBeginning()
    private let startsAhead: Bool
    /// Whether the source is wanted; nil if it always is.
    let demand: CameraDemand?
    private let stage: UncheckedTransfer<CaptureStage>
    private let result: CaptureResult
    private var thread: WorkerThread?

    /// - Parameters:
    ///   - source: open, but not started.
    ///   - interval: the time from one recorded frame to the next, for a time lapse; nil to record all.
    package init(_ source: RecordingSource, every interval: Duration? = nil) {
        let stream = source.stream
        self.source = RecordingOutcome.Source(stream)
        (isLive, bufferCount) = (stream.isLive, stream.bufferCount)
        demand = source.demand
        // An H.264 stream of a camera must be complete, and sources other than cameras deliver immediately.
        startsAhead = stream.takesTimeToStart && stream.format.pixelFormat != .h264 && demand == nil
        result = CaptureResult(source: self.source)
        stage = UncheckedTransfer(
            CaptureStage(
                source: SupervisedSource(
                    source, frames: frames, counters: counters, stop: stop, beginning: beginning),
                frames: frames, counters: counters, beginning: beginning,
                picker: interval.map(FramePicker.init(every:)), stills: stills))
        if let demand { stop.attach(demand) }
    }

    deinit {
        stop.request()
        join()
    }

    /// Starts a camera before the recording begins. A failure is reported when the recording begins.
    package func startAhead() {
        if startsAhead { _ = start() }
    }

    /// Begins the recording with the latest captured picture.
    func begin(duration: Duration?, ahead: ConversionAhead) {
        beginning.begin(duration: duration, ahead: ahead)
    }

    /// Starts the source, unless it was started ahead.
    /// - Returns: false if the system allows no more threads.
    func start() -> Bool {
        guard thread == nil else { return true }
        thread = WorkerThread { [stage, result] in
            result.error = stage.value.run()
            result.source = RecordingOutcome.Source(stage.value.stream)
        }
        return thread != nil
    }

    /// Waits for the source to end. Returns its final state, and the error if it ended early.
    @discardableResult func join() -> (error: RecordingError?, source: RecordingOutcome.Source) {
        if let thread = thread.take() { thread.join() }
        return (result.error, result.source)
    }

    /// The capture thread's results.
    private final class CaptureResult: @unchecked Sendable {
        // Safe to share: written by the capture thread, and read by another after joining it.
        var error: RecordingError?
        var source: RecordingOutcome.Source

        init(source: RecordingOutcome.Source) { self.source = source }
    }
}

extension RecordingOutcome.Source {
    fileprivate init(_ stream: any CaptureStream) {
        (identity, isLive) = (stream.identity, stream.isLive)
        (format, controlChanges) = (stream.format, stream.controlChanges)
        missingControls = stream.missingControls
    }
}

// MARK: The capture thread

/// The capture thread's work: takes pictures from the source and queues them for the encoder.
///
/// A live source never waits: if the encoder is late, the oldest waiting picture is dropped. Raw pictures do
/// not depend on each other, so any of them can be dropped.
struct CaptureStage {
    private var source: SupervisedSource
    private let frames: BoundedQueue<PixelBuffer>
    private let beginning: RecordingBeginning
    private let counters: Counters<CaptureCounter>
    private let stills: StillRequest
    /// Picks the frames of a time lapse; nil if all are recorded.
    private var picker: FramePicker?

    init(
        source: SupervisedSource, frames: BoundedQueue<PixelBuffer>, counters: Counters<CaptureCounter>,
        beginning: RecordingBeginning, picker: FramePicker? = nil, stills: StillRequest = StillRequest()
    ) {
        self.source = source
        self.stills = stills
        self.picker = picker
        self.frames = frames
        self.beginning = beginning
        self.counters = counters
    }

    /// Runs until the source ends, is interrupted, or fails for good.
    mutating func run() -> RecordingError? {
        defer {
            source.end()
            frames.close()
            stills.close()
        }
        do throws(CaptureError) {
            guard try source.start() else { return nil }
            while true {
                switch try source.nextBuffer() {
                case .buffer(let buffer):
                    if isOver(at: buffer.timestamp) { return nil }
                    stills.offer(buffer) { source.stream.exposure }
                    queue(buffer)
                case .end: return nil
                case .interrupted: return nil
                }
            }
        } catch {
            return .capture(error)
        }
    }

    /// The current stream; read it only after `run` has returned.
    var stream: any CaptureStream { source.stream }

    /// Whether a time lapse's duration is over. The encode thread would notice only with its next frame.
    private func isOver(at time: Instant) -> Bool {
        guard let picker, beginning.isRecording, let duration = beginning.duration else { return false }
        return picker.elapsed(at: time) >= duration
    }

    private mutating func queue(_ buffer: consuming PixelBuffer) {
        guard beginning.isRecording else {
            picker?.begin(at: buffer.timestamp)
            // The recording begins with the latest picture; earlier pictures are not part of it.
            return counters.add(1 - frames.pushDroppingOldest(buffer, limit: 1), to: .captured)
        }
        counters.add(to: .captured)
        let frameDuration = buffer.format.frameRate.frameDuration
        if picker?.picks(frameAt: buffer.timestamp, frameDuration: frameDuration) == false {
            return counters.add(to: .notWanted)
        }
        if source.stream.isLive {
            // One buffer is being encoded, some are converted ahead, one is being queued, and two stay with
            // the driver, if it granted that many.
            let limit = max(1, source.stream.bufferCount - 4 - beginning.convertedCount)
            let dropped = frames.pushDroppingOldest(buffer, limit: limit)
            counters.add(dropped, to: .droppedByUs)
            if dropped > 0, source.isCatchingUp { counters.add(dropped, to: .droppedAfterStandstill) }
        } else {
            // `push` fails only if the queue is closed, and then no more pictures are needed.
            _ = frames.push(buffer)
        }
    }
}

/// Tells the capture thread when the recording begins, which may be long after the source has started.
final class RecordingBeginning: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the lock held.
    private let monitor = Monitor()
    private var hasBegun = false
    private var length: Duration?
    private var conversions: ConversionAhead?

    /// - Parameters:
    ///   - duration: of the recording, from its first picture; nil for no limit.
    ///   - ahead: takes pictures for conversion.
    func begin(duration: Duration?, ahead: ConversionAhead?) {
        monitor.withLock { (hasBegun, length, conversions) = (true, duration, ahead) }
    }

    /// Whether pictures are recorded.
    var isRecording: Bool { monitor.withLock { hasBegun } }

    /// The recording's duration from its first picture; later pictures are not needed.
    var duration: Duration? { monitor.withLock { length } }

    /// The number of pictures that are being converted, or are converted and wait for the encoder.
    var convertedCount: Int { monitor.withLock { conversions }?.heldCount ?? 0 }
}
