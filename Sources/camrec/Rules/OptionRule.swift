/// What options ask of each other: what is asked for is done, refused, or warned of.
protocol OptionRule: Sendable {
    /// Why a command cannot be followed, with the next step; nil if it can.
    func refusal(of command: RecordCommand) -> String?

    /// Why an option has no effect, with the next step; nil if each has.
    func warning(about command: RecordCommand) -> String?
}

extension OptionRule {
    func refusal(of command: RecordCommand) -> String? { nil }

    func warning(about command: RecordCommand) -> String? { nil }
}
