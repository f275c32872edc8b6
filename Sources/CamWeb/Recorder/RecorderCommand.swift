import CamNetworking

/// A command of the page, as a line for the control socket. Browsers cannot send its other commands, such as `stop`.
struct RecorderCommand: Hashable, Sendable {
    /// Without its newline.
    let line: String

    private static let longestValue = 256

    /// Reads a form; nil for an unknown command or a malformed value.
    init?(_ form: FormBody) {
        switch form["command"] {
        case "keyframe": line = "keyframe"
        case "trigger": line = "trigger"
        case "pause": line = "pause"
        case "resume": line = "resume"
        case "bitrate":
            guard let rate = form["value"], Self.isRate(rate) else { return nil }
            line = "bitrate \(rate)"
        case "control":
            guard let name = form["name"], let value = form["value"], Self.isName(name),
                Self.isValue(value)
            else { return nil }
            line = "control \(name)=\(value)"
        default: return nil
        }
    }

    /// `2000000`, `2500k`, `2.5M`.
    private static func isRate(_ text: String) -> Bool {
        (1...16).contains(text.utf8.count)
            && text.utf8.allSatisfy { isDigit($0) || "kM.".utf8.contains($0) }
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }
    }

    /// A comma would begin another control, and a line break another command.
    private static func isValue(_ text: String) -> Bool {
        text.utf8.count <= longestValue && text.utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: ",") }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
