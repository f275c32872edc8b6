/// Each OUTPUT names something that camrec can write.
struct OutputNameRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        command.outputs.lazy.compactMap { OutputName($0).refusal(codec: command.stream.codec) }.first
    }
}
