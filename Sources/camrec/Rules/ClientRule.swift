import CamRecorder

/// Client options need clients.
struct ClientRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        guard !command.choices.contains(where: \.isLive) else { return nil }
        let live = command.live
        if live.clientBuffer != nil {
            return
                "--client-buffer needs --listen or an output tcp://, rtsp://, srt:// or udp://; add one, or leave this out"
        }
        return live.clientTimeout == nil
            ? nil
            : "--client-timeout needs --listen or an output tcp://, rtsp://, srt:// or udp://; add one, or leave this out"
    }
}
