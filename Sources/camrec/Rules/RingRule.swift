/// Options for the time after a trigger need a ring.
struct RingRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        command.segments.post != nil && command.segments.ring == nil
            ? "--post needs --ring; add it, as in --ring 30s" : nil
    }
}
