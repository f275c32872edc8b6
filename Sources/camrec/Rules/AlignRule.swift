import Output

/// `--align` puts the beginnings of files on the clock, which only a length in time and pictures in real time allow.
struct AlignRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        guard command.segments.align else { return nil }
        guard case .time(let length)? = command.segments.segment?.length else {
            return "--align needs --segment with a time, such as 10m; add one"
        }
        guard ClockGrid.allows(length) else {
            return "--align needs a --segment that divides a day, such as 10m or 1h; use another"
        }
        return command.source.isInRealTime
            ? nil : "--align needs a camera, or the test picture in real time; leave it out"
    }
}
