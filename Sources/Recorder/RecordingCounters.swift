import Synchronization

/// What a running recording counts, each number written by one thread and readable by all.
public final class RecordingCounters: Sendable {
    private let cells = Counter.allCases.map { _ in Cell() }

    /// What is counted.
    public enum Counter: Int, CaseIterable, Sendable {
        /// Frames that the source delivered, damaged ones included.
        case captured
        /// Gaps in the driver's numbers.
        case droppedByDriver
        /// Of the captured: flagged, cut short, or not decodable.
        case corrupt
        /// Of the captured: given up, the oldest first, because the encoder was late.
        case droppedByUs
        /// Of the captured: given to the encoder and never seen again.
        case droppedByEncoder
        /// Of the captured: still waiting when the recording ended, or of a camera's own H.264 before an IDR.
        case unused
        /// Access units that the encoder made.
        case encoded
        /// Access units written.
        case written
        /// Of the written: IDRs.
        case keyframes
        /// Bytes written.
        case bytes
        /// Times that a failing encoder was closed and opened anew.
        case encoderRestarts
    }

    init() {}

    /// The current value.
    public subscript(_ counter: Counter) -> Int { cells[counter.rawValue].value.load(ordering: .relaxed) }

    func add(_ amount: Int = 1, to counter: Counter) {
        cells[counter.rawValue].value.wrappingAdd(amount, ordering: .relaxed)
    }

    private final class Cell: Sendable {
        let value = Atomic<Int>(0)
    }
}
