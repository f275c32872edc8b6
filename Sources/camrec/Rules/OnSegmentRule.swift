import Glibc
import CamRecorder

/// Only files are finished.
struct OnSegmentRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        command.segments.onSegment != nil && !command.choices.contains(where: \.isFile)
            ? "--on-segment needs an output that is a file; name one, or leave it out" : nil
    }

    /// A missing program must not prevent a recording, least of all a service's.
    func warning(about command: RecordCommand) -> String? {
        // A name without a slash is looked for in PATH when it is started.
        guard let program = command.segments.onSegment, program.contains("/"), access(program, X_OK) != 0
        else {
            return nil
        }
        let cause = String(cString: strerror(errno))
        let hint =
            program.contains(" ")
            ? "give a program alone: its arguments are the file, start, end and frames"
            : "check its name and that it is executable"
        return "--on-segment \(program): \(cause); \(hint)"
    }
}
