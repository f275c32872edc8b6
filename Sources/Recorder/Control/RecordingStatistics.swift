/// A recording's progress, as `stats` on the control socket reports it. Property names are the report's.
public struct RecordingStatistics: Encodable, Sendable {
    let state: State
    let seconds: Double
    let captured: Int
    let droppedByDriver: Int
    let corrupt: Int
    let droppedByUs: Int
    let paused: Int
    /// For each encoder.
    let encoded: [Int]
    /// The camera's restarts.
    let restarts: Int
    let outputs: [Output]
    /// Currently connected receivers.
    let receivers: [ReceiverReport]

    enum State: String, Encodable, Sendable {
        case recording, paused
    }

    struct Output: Encodable, Sendable {
        let output: String
        let written: Int
        let keyframes: Int
        let bytes: Int
        let lost: Int

        init(_ output: RecordingOutput) {
            self.output = output.name
            let counters = output.counters
            (written, keyframes) = (counters[.written], counters[.keyframes])
            (bytes, lost) = (counters[.bytes], counters[.lost])
        }
    }

    /// - Parameter seconds: since the recording started.
    init(
        _ counters: Counters<CaptureCounter>, _ encoders: [Counters<EncoderCounter>],
        _ outputs: [RecordingOutput], seconds: Double, isPaused: Bool
    ) {
        state = isPaused ? .paused : .recording
        self.seconds = seconds
        (captured, droppedByDriver) = (counters[.captured], counters[.droppedByDriver])
        (corrupt, droppedByUs, paused) = (counters[.corrupt], counters[.droppedByUs], counters[.paused])
        encoded = encoders.map { $0[.encoded] }
        restarts = counters[.sourceRestarts]
        self.outputs = outputs.map(Output.init)
        receivers = outputs.flatMap { ReceiverReport.all(of: $0.receivers, output: $0.name) }
            .filter { $0.left == nil }
    }
}
