import Encoder
import CamPlatform
@testable import CamRecorder

/// The counters of a recording with one encoder and, if it is a whole one, one output.
struct CountedFrames {
    let capture: Counters<CaptureCounter>
    let encoder: Counters<EncoderCounter>
    var output = Counters<OutputCounter>()

    subscript(_ counter: CaptureCounter) -> Int { capture[counter] }
    subscript(_ counter: EncoderCounter) -> Int { encoder[counter] }
    subscript(_ counter: OutputCounter) -> Int { output[counter] }

    /// Whether every captured frame is counted exactly once.
    var addUp: Bool {
        self[.captured] == self[.corrupt] + self[.droppedByUs] + self[.paused] + self[.notWanted]
            + self[.droppedByEncoder]
            + self[.encoded] + self[.unused]
    }
}

extension Recording {
    /// The counters of the first encoder and the first output.
    var counted: CountedFrames {
        CountedFrames(capture: counters, encoder: encoderCounters[0], output: outputs[0].counters)
    }
}

extension RecordingOutcome {
    var error: RecordingError? { errors.first }
}
