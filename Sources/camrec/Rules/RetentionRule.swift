import Output
import CamRecorder
import CamPlatform

/// Only segments are removed, and only under recognizable names.
struct RetentionRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let segments = command.segments
        guard segments.isLimited else { return nil }
        guard segments.isSegmented else {
            return "--keep and --min-free need --segment or --ring; add one of these"
        }
        let now = WallTime.now
        let names = command.choices.filter(\.isFile).flatMap { [$0.path, $0.timestamps].compactMap { $0 } }
        return names.first { !segments.names($0).areKnownAgain(at: now) }.map {
            "--keep and --min-free cannot recognise such files later: '\($0)'; leave out '..' after a date"
        }
    }
}
