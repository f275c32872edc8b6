/// A dependency between options: every request is carried out, refused, or warned about.
protocol OptionRule: Sendable {
    /// Returns why a command is refused, with the next step, or nil if it is valid.
    func refusal(of command: RecordCommand) -> String?

    /// Returns why an option has no effect, with the next step, or nil if each has one.
    func warning(about command: RecordCommand) -> String?
}

extension OptionRule {
    func refusal(of command: RecordCommand) -> String? { nil }

    func warning(about command: RecordCommand) -> String? { nil }
}
