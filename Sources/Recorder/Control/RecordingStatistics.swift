/// A recording's progress, as `stats` on the control socket reports it. Property names are the report's.
public struct RecordingStatistics: Codable, Sendable {
    let state: State
    let seconds: Double
    let captured: Int
    let droppedByDriver: Int
    let corrupt: Int
    let droppedByUs: Int
    let paused: Int
    /// Frames between those of a time lapse; nil from an earlier version.
    let notWanted: Int?
    /// For each encoder.
    let encoded: [Int]
    let droppedByEncoder: [Int]
    let encoderRestarts: [Int]
    /// The camera's restarts.
    let restarts: Int
    /// How often something moved; nil without --on-motion.
    let motionEvents: Int?
    /// Whether something moves now; nil without --on-motion.
    let moving: Bool?
    let outputs: [Output]
    /// Currently connected receivers.
    let receivers: [ReceiverReport]

    enum State: String, Codable, Sendable {
        case recording, paused
    }

    struct Output: Codable, Sendable {
        let output: String
        let written: Int
        let keyframes: Int
        let bytes: Int
        let lost: Int
        /// From capture to write; nil if nothing was written, or the source has no clock.
        let latency: LatencyBuckets.Snapshot?
        /// A file's folder; nil for other outputs.
        let folder: String?
        /// How many are connected to a live output; nil for other outputs.
        let receivers: Int?
        /// How many have connected to it so far.
        let connections: Int?

        init(_ output: RecordingOutput) {
            self.output = output.name
            let progress = output.progress
            (written, keyframes, bytes) = (progress.units, progress.keyframes, progress.bytes)
            lost = output.counters[.lost] + (output.receivers?.lost ?? 0)
            connections = output.receivers?.content.count
            (latency, folder) = (output.latencies.snapshot, output.folder)
            receivers = output.receivers?.content.receivers.count { $0.departure == nil }
        }
    }

    /// - Parameters:
    ///   - seconds: since the recording started.
    ///   - motion: nil if nobody watches for it.
    init(
        _ counters: Counters<CaptureCounter>, _ encoders: [Counters<EncoderCounter>],
        _ outputs: [RecordingOutput], seconds: Double, isPaused: Bool,
        motion: MotionLog.Content? = nil
    ) {
        state = isPaused ? .paused : .recording
        self.seconds = seconds
        (captured, droppedByDriver) = (counters[.captured], counters[.droppedByDriver])
        (corrupt, droppedByUs, paused) = (counters[.corrupt], counters[.droppedByUs], counters[.paused])
        notWanted = counters[.notWanted]
        encoded = encoders.map { $0[.encoded] }
        droppedByEncoder = encoders.map { $0[.droppedByEncoder] }
        encoderRestarts = encoders.map { $0[.restarts] }
        restarts = counters[.sourceRestarts]
        (motionEvents, moving) = (motion?.count, motion?.isMoving)
        self.outputs = outputs.map(Output.init)
        receivers = outputs.flatMap { ReceiverReport.all(of: $0.receivers, output: $0.name) }
            .filter { $0.left == nil }
    }
}
