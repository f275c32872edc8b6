import Output
import CamRecorder
import CamPlatform

/// A date in a name does not create folders unasked.
struct DateRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let now = WallTime.now
        let names =
            command.choices.filter(\.isFile).map(\.path)
            + [command.reporting.timestamps, command.reporting.report].compactMap { $0 }
        for name in names {
            guard let (conversion, text) = command.segments.names(name).misplacedConversion(at: now) else {
                continue
            }
            return
                "'\(name)': \(conversion) becomes '\(text)', which cannot be part of a name; write %F for the date, "
                + "%H%M%S for the time"
        }
        return nil
    }
}
