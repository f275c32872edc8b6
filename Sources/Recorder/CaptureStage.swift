import Capture
import Pictures

/// The capture thread's work: takes pictures from the source and queues them for the encoder.
///
/// A live source never waits: if the encoder is late, the oldest waiting picture is dropped. Raw pictures do not
/// depend on each other, so any of them can be dropped.
struct CaptureStage {
    private var source: SupervisedSource
    private let frames: BoundedQueue<PixelBuffer>
    private let beginning: RecordingBeginning
    private let counters: Counters<CaptureCounter>

    init(
        source: SupervisedSource, frames: BoundedQueue<PixelBuffer>, counters: Counters<CaptureCounter>,
        beginning: RecordingBeginning
    ) {
        self.source = source
        self.frames = frames
        self.beginning = beginning
        self.counters = counters
    }

    /// Runs until the source ends, is interrupted, or fails for good.
    mutating func run() -> RecordingError? {
        defer {
            source.end()
            frames.close()
        }
        do throws(CaptureError) {
            try source.start()
            while true {
                switch try source.nextBuffer() {
                case .buffer(let buffer): queue(buffer)
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

    private func queue(_ buffer: consuming PixelBuffer) {
        guard beginning.isRecording else {
            // The recording begins with the latest picture; those that it displaces are not part of it.
            return counters.add(1 - frames.pushDroppingOldest(buffer, limit: 1), to: .captured)
        }
        counters.add(to: .captured)
        if source.stream.isLive {
            // One buffer is being encoded, some are converted ahead, one is being queued, and two stay with the
            // driver, if it granted that many.
            let limit = max(1, source.stream.bufferCount - 4 - beginning.convertedCount)
            counters.add(frames.pushDroppingOldest(buffer, limit: limit), to: .droppedByUs)
        } else {
            // False only if the queue is closed, when pictures are no longer needed.
            _ = frames.push(buffer)
        }
    }
}
