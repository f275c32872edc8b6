/// Limits on clients need clients that connect.
struct ClientLimitRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let live = command.live
        guard live.listen == nil else { return nil }
        if live.maxClients != nil { return "--max-clients needs --listen; add it, or leave this out" }
        return live.maxClientsPerAddress == nil
            ? nil : "--max-clients-per-address needs --listen; add it, or leave this out"
    }
}
