import Capture
import CamPictures
import CamPlatform

/// A source at work: its thread, and the queue of its pictures.
///
/// A camera needs time until its first picture, and an encoder to open, so a camera can be started before its recording
/// begins. Until then only the latest picture is kept, and nothing counts.
///
/// Belongs to one thread; what is shared with others is thread-safe. If no recording takes it, it stops.
public final class Capturing {
    /// The source as it was opened.
    public let source: RecordingOutcome.Source
    let isLive: Bool
    let bufferCount: Int
    let counters = Counters<CaptureCounter>()
    let frames = BoundedQueue<PixelBuffer>(capacity: PixelBufferPool.maximumCount)
    let stop = RecordingStop()
    let stills = StillRequest()
    private let beginning = RecordingBeginning()
    private let startsAhead: Bool
    private let stage: Handover<CaptureStage>
    private let result: CaptureResult
    private var thread: WorkerThread?

    /// - Parameters:
    ///   - source: open, but not started.
    ///   - interval: the time from one recorded frame to the next, for a time lapse; nil to record all.
    public init(_ source: RecordingSource, every interval: Duration? = nil) {
        let stream = source.stream
        self.source = RecordingOutcome.Source(stream)
        (isLive, bufferCount) = (stream.isLive, stream.bufferCount)
        // Of a camera's own stream every picture is needed, and those of other sources come at once.
        startsAhead = stream.takesTimeToStart && stream.format.pixelFormat != .h264
        result = CaptureResult(source: self.source)
        stage = Handover(
            CaptureStage(
                source: SupervisedSource(
                    source, frames: frames, counters: counters, stop: stop, beginning: beginning),
                frames: frames, counters: counters, beginning: beginning,
                picker: interval.map(FramePicker.init(every:)), stills: stills))
    }

    deinit {
        stop.request()
        join()
    }

    /// Starts a camera ahead of the recording. Whether that succeeds is seen when it begins.
    public func startAhead() {
        if startsAhead { _ = start() }
    }

    /// Begins the recording with the latest picture that there is.
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

    /// Waits for the source's end, and returns why that came early, and the source as it was then.
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
