import Capture

/// The capture thread's work: takes pictures from the source and queues them for the encoder.
///
/// A live source never waits: when the encoder is late, the oldest picture that still waits is given up. Raw
/// pictures are independent of each other, so any of them can be spared.
struct CaptureStage {
    let stream: any CaptureStream
    let frames: BoundedQueue<PixelBuffer>
    let counters: Counters<CaptureCounter>
    private var countedLosses = CaptureLosses()

    init(stream: any CaptureStream, frames: BoundedQueue<PixelBuffer>, counters: Counters<CaptureCounter>) {
        self.stream = stream
        self.frames = frames
        self.counters = counters
    }

    /// Runs until the source ends, is interrupted, or fails.
    mutating func run() -> RecordingError? {
        defer {
            stream.stop()
            frames.close()
        }
        do throws(CaptureError) {
            try stream.start()
            while true {
                let next = try stream.nextBuffer()
                countLosses()
                switch consume next {
                case .buffer(let buffer): queue(buffer)
                case .end: return nil
                case .interrupted: return nil
                }
            }
        } catch {
            countLosses()
            return .capture(error)
        }
    }

    private func queue(_ buffer: consuming PixelBuffer) {
        counters.add(to: .captured)
        if stream.isLive {
            counters.add(frames.pushDroppingOldest(buffer), to: .droppedByUs)
        } else {
            // A closed queue is one that nobody takes from any more.
            _ = frames.push(buffer)
        }
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
