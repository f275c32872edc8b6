import Output
import CamRecorder

/// Segments and dated names are never replaced.
struct OverwriteRule: OptionRule {
    func warning(about command: RecordCommand) -> String? {
        command.reporting.overwrite && !replacesSomething(command)
            ? "--overwrite has no effect: no output would replace a file; leave it out" : nil
    }

    private func replacesSomething(_ command: RecordCommand) -> Bool {
        if let report = command.reporting.report, report != FileSink.standardOutput { return true }
        return !command.segments.isSegmented && command.choices.contains(where: \.isFile)
    }
}
