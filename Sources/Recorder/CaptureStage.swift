import Capture
import Pictures

/// The capture thread's work: takes pictures from the source and queues them for the encoder.
///
/// A live source never waits: when the encoder is late, the oldest picture that still waits is given up. Raw
/// pictures are independent of each other, so any of them can be spared.
struct CaptureStage {
    private var source: SupervisedSource
    private let frames: BoundedQueue<PixelBuffer>
    private let counters: Counters<CaptureCounter>

    init(
        source: SupervisedSource, frames: BoundedQueue<PixelBuffer>, counters: Counters<CaptureCounter>
    ) {
        self.source = source
        self.frames = frames
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

    /// The stream in use, once `run` has ended.
    var stream: any CaptureStream { source.stream }

    private func queue(_ buffer: consuming PixelBuffer) {
        counters.add(to: .captured)
        if source.stream.isLive {
            // One buffer is being encoded, one is on its way into the queue, and two stay with the driver, if it
            // granted as many.
            let limit = max(1, source.stream.bufferCount - 4)
            counters.add(frames.pushDroppingOldest(buffer, limit: limit), to: .droppedByUs)
        } else {
            // A closed queue is one that nobody takes from any more.
            _ = frames.push(buffer)
        }
    }
}
