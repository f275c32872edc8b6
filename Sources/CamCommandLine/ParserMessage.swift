/// ArgumentParser's message about a command line, as one line.
public enum ParserMessage {
    private static let list = ". Please provide one of "

    /// The message with a list of values as a phrase, in lower case, and without its full stop.
    ///
    /// Other line breaks belong to a value, which is shown with codes instead (`printable`).
    public static func line(_ message: String) -> String { lowerCase(phrase(message)) }

    private static func phrase(_ message: String) -> String {
        guard let range = message.ranges(of: list).last else {
            // The only text of several lines without a value is about shells.
            let isAboutShells = message.contains("--generate-completion-script")
            let line = isAboutShells ? message.split(separator: "\n").joined(separator: " ") : message
            return line.hasSuffix(".") ? String(line.dropLast()) : line
        }
        return
            "\(message[..<range.lowerBound]): expected \(values(message[range.upperBound...]).alternatives)"
    }

    /// With a small letter at the start, if that is a word: `The value` but not `H.265`.
    private static func lowerCase(_ line: String) -> String {
        guard let first = line.first, line.dropFirst().first?.isLowercase == true else { return line }
        return first.lowercased() + line.dropFirst()
    }

    /// A few values are quoted on the same line; many have a line each.
    private static func values(_ list: Substring) -> [String] {
        let bullets = list.split(separator: "\n").dropFirst()
        guard bullets.isEmpty else { return bullets.map { String($0.drop { " -".contains($0) }) } }
        return list.split(separator: "'", omittingEmptySubsequences: false).enumerated()
            .compactMap { $0.offset.isMultiple(of: 2) ? nil : String($0.element) }
    }
}
