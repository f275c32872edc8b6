/// What is written after a trigger needs something that a trigger writes.
struct RingRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        command.segments.post != nil && command.segments.ring == nil
            ? "--post needs --ring; add it, as in --ring 30s" : nil
    }
}
