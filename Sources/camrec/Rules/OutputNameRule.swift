/// Each OUTPUT is the name of something that camrec writes.
struct OutputNameRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        command.outputs.lazy.compactMap { OutputName($0).refusal(codec: command.stream.codec) }.first
    }
}
