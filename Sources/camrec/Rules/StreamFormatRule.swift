import Output
import CamRecorder

/// A stream format needs an output whose name says none.
struct StreamFormatRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        guard command.live.streamFormat != .raw, !command.choices.contains(where: takesFormat) else {
            return nil
        }
        return
            "--stream-format needs the output -, an output tcp:// or --listen; files have theirs by their names"
    }

    private func takesFormat(_ choice: OutputChoice) -> Bool {
        choice.path == FileSink.standardOutput || choice.container != nil
    }
}
