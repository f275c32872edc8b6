import Capture
import Encoder
import CamPlatform
import CamStorage

/// A command on the control socket.
package enum ControlCommand: Sendable, Equatable {
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
    /// Keeps recordings, releases them, or lists those that are kept.
    case keeping(KeepingCommand)

    /// The syntax of all commands.
    package static let all =
        "keyframe, trigger, bitrate RATE, max-bitrate RATE, pause, resume, snapshot FORMAT, controls, "
        + "control NAME=VALUE, keep PATH, release PATH, kept, stats, doctor, stop"

    /// Separates the two paths of a range: it is rare in names, and a space is not.
    package static let pathSeparator: Character = "\t"

    /// The commands' first words.
    package static let names = [
        "keyframe", "trigger", "bitrate", "max-bitrate", "pause", "resume", "snapshot", "controls", "control",
        "keep", "release", "kept", "stats", "doctor", "stop",
    ]

    /// The reason a line is not a valid command.
    package struct Mistake: Error, CustomStringConvertible {
        package let description: String
    }

    /// Parses a line, without its newline.
    package init(_ line: String) throws(Mistake) {
        let words = line.split(separator: " ")
        switch (words.first, words.count) {
        case ("keyframe", 1): self = .keyframe
        case ("trigger", 1): self = .trigger
        case ("pause", 1): self = .pause
        case ("resume", 1): self = .resume
        case ("stats", 1): self = .stats
        case ("controls", 1): self = .controls
        case ("doctor", 1): self = .doctor
        case ("kept", 1): self = .keeping(.list)
        // A name may have spaces.
        case ("keep", 2...), ("release", 2...):
            let range = try Self.range(line[words[0].endIndex...].dropFirst())
            self = .keeping(.mark(range, isKept: words[0] == "keep"))
        case ("keep", 1), ("release", 1):
            throw Mistake(
                description: "'\(line)' needs the path of a recording; 'kept' lists those that are kept")
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

    private static func range(_ text: Substring) throws(Mistake) -> SegmentRange {
        let paths = text.split(separator: pathSeparator, omittingEmptySubsequences: false).map(String.init)
        guard (1...2).contains(paths.count), !paths.contains("") else {
            throw Mistake(description: "'\(text)' is not one path, or the first and the last one of a range")
        }
        return SegmentRange(first: paths[0], last: paths.count > 1 ? paths[1] : nil)
    }

    private static func rate(_ word: Substring) throws(Mistake) -> Int {
        guard let rate = BitsPerSecond(String(word)) else {
            throw Mistake(description: "'\(word)' is not a bit rate; \(BitsPerSecond.requirement)")
        }
        return rate.value
    }
}
