import CamRecorder

/// Segments are files and have their own names.
struct SegmentRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        guard command.segments.isSegmented else { return nil }
        let choices = command.choices
        if !choices.contains(where: \.isFile) {
            return "--segment and --ring need an output that is a file; name one"
        }
        if let path = command.reporting.timestamps, path == choices.first?.path {
            return "'\(path)' names both an output and --timestamps; use another name"
        }
        return nil
    }
}
