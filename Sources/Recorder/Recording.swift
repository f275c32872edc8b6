import Bitstream
import Capture
import Encoder
import Output

/// When a recording ends by itself.
public struct RecordingLimits: Sendable, Hashable {
    /// Frames, at least 1; nil for no limit.
    public var frames: Int?
    /// Nanoseconds from the first frame's timestamp; nil for no limit.
    public var duration: Int64?

    /// Frames, a duration in nanoseconds, both or neither.
    public init(frames: Int? = nil, duration: Int64? = nil) {
        self.frames = frames
        self.duration = duration
    }
}

/// What came of a recording.
public struct RecordingOutcome: Sendable {
    /// Why it ended early; nil where it ended as asked.
    public let error: RecordingError?
    /// Capture to write in nanoseconds; nil where nothing was written or the source has no clock.
    public let latency: Latency?

    /// Nanoseconds.
    public struct Latency: Sendable, Hashable {
        /// Half of the frames took no longer.
        public let median: Int64
        /// 99 of 100 frames took no longer.
        public let percentile99: Int64
        /// The slowest frame.
        public let maximum: Int64
    }
}

/// A recording under way: a capture thread, an encode thread, a writer.
///
/// Made and ended by one thread; `stop` and `counters` may be used from any.
public final class Recording {
    /// What is being counted.
    public let counters = RecordingCounters()
    /// Raised when everything has come to its end and `finish` will not wait.
    public let ended: Interruption

    private let interrupter: CaptureInterrupter
    private let stopWish = RecordingStop()
    private var threads: Threads?
    private let results = Results()

    /// A queue of coded pictures: 64 MiB, or a minute at 60 frames a second.
    private static let writerCapacity = 3600
    private static let writerBytes = 64 << 20

    private struct Threads: ~Copyable {
        let capture: WorkerThread
        let encode: WorkerThread
        let write: WorkerThread

        /// Starts all or none.
        /// - Parameter abandon: makes those that were started end.
        static func start(
            _ capture: @escaping @Sendable () -> Void, _ encode: @escaping @Sendable () -> Void,
            _ write: @escaping @Sendable () -> Void, abandon: () -> Void
        ) throws(RecordingError) -> Threads {
            guard let write = WorkerThread(body: write) else { throw .noResources }
            guard let encode = WorkerThread(body: encode) else {
                abandon()
                write.join()
                throw .noResources
            }
            guard let capture = WorkerThread(body: capture) else {
                abandon()
                encode.join()
                write.join()
                throw .noResources
            }
            return Threads(capture: capture, encode: encode, write: write)
        }

        consuming func join() {
            capture.join()
            encode.join()
            write.join()
        }
    }

    /// Starts recording.
    /// - Parameters:
    ///   - encoder: already open, so that its failure to open is told before anything is recorded.
    ///   - makeEncoder: opens another like it after a failure. Called on the encode thread.
    public init(
        from stream: any CaptureStream, encoder: any PictureEncoder,
        makeEncoder: @escaping () throws(EncoderError) -> any PictureEncoder, keyframeInterval: Int,
        keyframeRequest: KeyframeRequest = KeyframeRequest(), limits: RecordingLimits,
        to sink: any PacketSink
    ) throws(RecordingError) {
        guard let ended = Interruption() else { throw .noResources }
        self.ended = ended
        interrupter = stream.interrupter
        // One buffer is being encoded, one is on its way into the queue, and two stay with the driver, if it
        // granted as many.
        let frames = BoundedQueue<PixelBuffer>(capacity: max(1, stream.bufferCount - 4))
        let units = BoundedQueue<AccessUnit>(capacity: Self.writerCapacity, costLimit: Self.writerBytes)
        let capture = Handover(CaptureStage(stream: stream, frames: frames, counters: counters))
        let encode = Handover(
            EncodeStage(
                encoder: encoder, makeEncoder: makeEncoder, keyframeInterval: keyframeInterval,
                limits: limits,
                frames: frames, units: units, counters: counters, interrupter: interrupter, pauses: stopWish,
                keyframeRequest: keyframeRequest))
        let write = Handover(
            WriteStage(
                units: units, sink: sink, counters: counters, interrupter: interrupter,
                measuresLatency: stream.isLive))
        let results = results
        threads = try Threads.start(
            { results.capture = capture.value.run() },
            { results.encode = encode.value.run() },
            {
                results.write = write.value.run()
                results.latency = write.value.latency
                ended.raise()
            },
            abandon: { [interrupter] in
                interrupter.interrupt()
                frames.close()
                units.close()
            })
    }

    /// Ends the recording: what is captured is encoded, what is encoded is written.
    public func stop() {
        stopWish.request()
        interrupter.interrupt()
    }

    /// Waits for the end.
    public func finish() -> RecordingOutcome {
        if let threads = threads.take() { threads.join() }
        return results.outcome
    }

    /// What each thread leaves behind; read after it was joined.
    private final class Results: @unchecked Sendable {
        // Safe to share: each field is written by one thread, and read by another after joining it.
        var capture: RecordingError?
        var encode: RecordingError?
        var write: RecordingError?
        var latency = LatencyHistogram()

        /// What failed first takes the others down with it: a failed output stops the encoder, both stop
        /// the source.
        var outcome: RecordingOutcome {
            let latency: RecordingOutcome.Latency? =
                if let median = latency.percentile(0.5), let high = latency.percentile(0.99) {
                    RecordingOutcome.Latency(
                        median: median, percentile99: high, maximum: latency.maximum)
                } else {
                    nil
                }
            return RecordingOutcome(error: write ?? encode ?? capture, latency: latency)
        }
    }
}

/// Gives a value to another thread for good: whoever hands it over does not touch it again.
private final class Handover<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}
