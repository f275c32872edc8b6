/// What a line on the control socket means.
enum ControlCommand: Equatable {
    case keyframe
    /// Write what --ring has kept.
    case trigger
    /// Bits a second.
    case bitRate(Int)
    case pause
    case resume
    case stats
    case stop

    /// How each is written.
    static let all = "keyframe, trigger, bitrate RATE, pause, resume, stats, stop"

    /// Nil for anything else.
    init?(_ line: String) {
        let words = line.split(separator: " ")
        switch (words.first, words.count) {
        case ("keyframe", 1): self = .keyframe
        case ("trigger", 1): self = .trigger
        case ("pause", 1): self = .pause
        case ("resume", 1): self = .resume
        case ("stats", 1): self = .stats
        case ("stop", 1): self = .stop
        case ("bitrate", 2):
            guard let rate = BitsPerSecond(argument: String(words[1])) else { return nil }
            self = .bitRate(rate.value)
        default: return nil
        }
    }
}
