import Capture
import Encoder
import CamPlatform

/// A command on the control socket.
public enum ControlCommand: Sendable, Equatable {
    case keyframe
    /// Writes the pictures that --ring holds.
    case trigger
    /// Bits per second.
    case bitRate(Int)
    /// Bits per second.
    case maximumBitRate(Int)
    case pause
    case resume
    case stats
    case stop
    /// A picture of the recording, which follows the reply.
    case snapshot(Snapshot.Format)
    /// Lists the camera's controls.
    case controls
    case control([ControlSetting])
    /// Runs `camrec doctor` with the recording's rights. Its findings follow the reply as JSON.
    case doctor

    /// The syntax of all commands.
    public static let all =
        "keyframe, trigger, bitrate RATE, max-bitrate RATE, pause, resume, snapshot FORMAT, controls, "
        + "control NAME=VALUE, stats, doctor, stop"

    /// The commands' first words.
    public static let names = [
        "keyframe", "trigger", "bitrate", "max-bitrate", "pause", "resume", "snapshot", "controls", "control",
        "stats", "doctor", "stop",
    ]

    /// The reason a line is not a valid command.
    public struct Mistake: Error, CustomStringConvertible {
        public let description: String
    }

    /// Parses a line, without its newline.
    public init(_ line: String) throws(Mistake) {
        let words = line.split(separator: " ")
        switch (words.first, words.count) {
        case ("keyframe", 1): self = .keyframe
        case ("trigger", 1): self = .trigger
        case ("pause", 1): self = .pause
        case ("resume", 1): self = .resume
        case ("stats", 1): self = .stats
        case ("controls", 1): self = .controls
        case ("doctor", 1): self = .doctor
        // A menu entry's name may have spaces.
        case ("control", 2...): self = .control(try Self.settings(line[words[0].endIndex...].dropFirst()))
        case ("control", 1):
            throw Mistake(description: "'\(line)' needs NAME=VALUE; 'controls' lists the names")
        case ("stop", 1): self = .stop
        case ("bitrate", 2): self = .bitRate(try Self.rate(words[1]))
        case ("max-bitrate", 2): self = .maximumBitRate(try Self.rate(words[1]))
        case ("snapshot", 2):
            guard let format = Snapshot.Format(rawValue: String(words[1])) else {
                throw Mistake(description: "'\(words[1])' is not a format; expected jpeg or png")
            }
            self = .snapshot(format)
        case ("snapshot", 1): throw Mistake(description: "'\(line)' needs a format; expected jpeg or png")
        case ("bitrate", 1), ("max-bitrate", 1):
            throw Mistake(description: "'\(line)' needs a rate; \(BitsPerSecond.requirement)")
        default:
            let nearest = words.first.flatMap { Self.names.nearest(to: String($0)) }
            let advice = nearest.map { "the nearest is '\($0)'" } ?? "there are \(Self.all)"
            throw Mistake(description: "'\(line)' is not a command; \(advice)")
        }
    }

    private static func settings(_ text: Substring) throws(Mistake) -> [ControlSetting] {
        guard let settings = ControlSetting.list(String(text)) else {
            throw Mistake(description: "'\(text)' is not NAME=VALUE; 'controls' lists the names")
        }
        return settings
    }

    private static func rate(_ word: Substring) throws(Mistake) -> Int {
        guard let rate = BitsPerSecond(String(word)) else {
            throw Mistake(description: "'\(word)' is not a bit rate; \(BitsPerSecond.requirement)")
        }
        return rate.value
    }
}
