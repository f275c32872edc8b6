import CamRecorder

/// `--utc` needs a date to write, in a name or in the pictures.
struct UTCRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let segments = command.segments
        guard segments.utc, !segments.isSegmented, !command.choices.contains(where: \.isPattern),
            command.reporting.report?.contains("%") != true, command.picture.overlay == nil
        else { return nil }
        return
            "--utc needs --segment, --ring, --overlay, or an output with a date in its name, as in %H.h264; add one"
    }
}
