import Capture
import CamPictures
import CamPlatform

/// The capture thread's work: takes pictures from the source and queues them for the encoder.
///
/// A live source never waits: if the encoder is late, the oldest waiting picture is dropped. Raw pictures do not
/// depend on each other, so any of them can be dropped.
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

    /// Whether a time lapse's duration is over: the encode thread would only see that in the next frame it gets.
    private func isOver(at time: Instant) -> Bool {
        guard let picker, beginning.isRecording, let duration = beginning.duration else { return false }
        return picker.elapsed(at: time) >= duration
    }

    private mutating func queue(_ buffer: consuming PixelBuffer) {
        guard beginning.isRecording else {
            picker?.begin(at: buffer.timestamp)
            // The recording begins with the latest picture; those that it displaces are not part of it.
            return counters.add(1 - frames.pushDroppingOldest(buffer, limit: 1), to: .captured)
        }
        counters.add(to: .captured)
        let frameDuration = buffer.format.frameRate.frameDuration
        if picker?.picks(frameAt: buffer.timestamp, frameDuration: frameDuration) == false {
            return counters.add(to: .notWanted)
        }
        if source.stream.isLive {
            // One buffer is being encoded, some are converted ahead, one is being queued, and two stay with the
            // driver, if it granted that many.
            let limit = max(1, source.stream.bufferCount - 4 - beginning.convertedCount)
            let dropped = frames.pushDroppingOldest(buffer, limit: limit)
            counters.add(dropped, to: .droppedByUs)
            if dropped > 0, source.isCatchingUp { counters.add(dropped, to: .droppedAfterStandstill) }
        } else {
            // False only if the queue is closed, when pictures are no longer needed.
            _ = frames.push(buffer)
        }
    }
}
