import CamRecorder

/// Only files are synced to the disk.
struct SyncRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        command.segments.sync != nil && !command.choices.contains(where: \.isFile)
            ? "--sync needs an output that is a file; name one, or leave it out" : nil
    }
}
