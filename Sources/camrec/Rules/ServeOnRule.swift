import CamRecorder

/// Files that end, and live outputs that continue.
struct ServeOnRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        guard command.length.serveOn else { return nil }
        if command.length.frames == nil, command.length.duration == nil {
            return "--serve-on needs --frames or --duration, with which files end; add one, or leave it out"
        }
        let choices = command.choices
        if !choices.contains(where: \.isLive) {
            return
                "--serve-on needs --listen or an output that connects, such as rtsp://; add one, or leave it out"
        }
        return choices.allSatisfy(\.isLive)
            ? "--serve-on needs an output that is a file, which ends; name one, or leave out the limit" : nil
    }
}
