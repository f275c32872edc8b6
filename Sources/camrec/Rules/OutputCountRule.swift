/// There is at least one output, and not too many.
struct OutputCountRule: OptionRule {
    private static let mostOutputs = 32

    func refusal(of command: RecordCommand) -> String? {
        let count = command.outputs.count
        if count == 0, command.live.listen == nil {
            return "no OUTPUT is given, and no --listen; name a file, such as out.h264"
        }
        return count > Self.mostOutputs
            ? "\(count) outputs, more than \(Self.mostOutputs); leave some out" : nil
    }
}
