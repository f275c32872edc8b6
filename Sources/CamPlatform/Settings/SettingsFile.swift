import Glibc

/// A file of settings: `key = value`, one per line.
///
/// Empty lines and lines that begin with `#` are ignored; a `#` after white space begins a comment, too,
/// unless the value is in double quotes. The keys are interpreted elsewhere.
public struct SettingsFile: Sendable {
    /// One line that sets something.
    public struct Entry: Sendable, Equatable {
        /// Counted from 1.
        public let line: Int
        public let key: String
        public let value: String
    }

    /// The path as given; messages begin with it.
    public let path: String
    /// In the order of the lines.
    public let entries: [Entry]
    /// Lines that are not settings.
    public let problems: [SettingsProblem]

    /// A larger file is not a settings file.
    private static let mostBytes = 64 << 10
    private static let mostEntries = 256

    /// Reads a file.
    public init(path: String) throws(SettingsProblem) {
        self.init(path: path, text: try Self.read(path))
    }

    /// Parses a text as a file's content.
    public init(path: String, text: String) {
        var entries: [Entry] = []
        var problems: [SettingsProblem] = []
        // Some editors begin every file with a byte order mark.
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() {
            do throws(LineError) {
                guard let entry = try Self.entry(line, number: index + 1) else { continue }
                guard entries.count < Self.mostEntries else {
                    problems.append(
                        SettingsProblem(
                            path: path, line: index + 1,
                            "more than \(Self.mostEntries) settings; not a settings file"))
                    break
                }
                entries.append(entry)
            } catch {
                problems.append(SettingsProblem(path: path, line: index + 1, error.reason))
            }
        }
        self.path = path
        self.entries = entries
        self.problems = problems
    }

    private struct LineError: Error {
        let reason: String
    }

    private static func entry(_ line: Substring, number: Int) throws(LineError) -> Entry? {
        let text = line.trimmed
        if text.isEmpty || text.hasPrefix("#") { return nil }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f || $0 == "\t" }) else {
            throw LineError(reason: "a control character; write plain text")
        }
        guard let sign = text.firstIndex(of: "=") else {
            throw LineError(reason: "'\(text)' has no '='; write key = value")
        }
        let key = text[..<sign].trimmed
        guard !key.isEmpty else { throw LineError(reason: "no key before the '='; write key = value") }
        return Entry(
            line: number, key: String(key), value: try value(text[text.index(after: sign)...].trimmed))
    }

    private static func value(_ text: Substring) throws(LineError) -> String {
        guard text.hasPrefix("\"") else { return String(text.withoutComment) }
        guard let end = text.dropFirst().firstIndex(of: "\"") else {
            throw LineError(reason: "the quote is not closed; end the value with '\"'")
        }
        let rest = text[text.index(after: end)...].trimmed
        guard rest.isEmpty || rest.hasPrefix("#") else {
            throw LineError(reason: "'\(rest)' after the closing quote; remove it")
        }
        return String(text[text.index(after: text.startIndex)..<end])
    }

    private static func read(_ path: String) throws(SettingsProblem) -> String {
        func failure(_ code: Int32) -> SettingsProblem {
            let isMissing = code == ENOENT || code == ENOTDIR
            return SettingsProblem(
                path: path, line: nil,
                isMissing
                    ? "no such file; check its name and folder"
                    : "reading failed: \(String(cString: strerror(code))); check its name and permissions")
        }
        let bytes: [UInt8]
        do throws(WholeFile.Failure) { bytes = try WholeFile.read(path, atMost: mostBytes) } catch {
            switch error {
            case .system(let code): throw failure(code)
            case .notRegular: throw SettingsProblem(path: path, line: nil, "not a settings file")
            case .tooLong:
                throw SettingsProblem(
                    path: path, line: nil, "larger than \(mostBytes >> 10) KiB; not a settings file")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SettingsProblem(path: path, line: nil, "not UTF-8; write plain text")
        }
        return text
    }
}

extension Substring {
    /// Without white space at either end.
    fileprivate var trimmed: Substring {
        guard let last = lastIndex(where: { !$0.isWhitespace }) else { return self[endIndex...] }
        return self[...last].drop(while: \.isWhitespace)
    }

    /// Up to a `#` that begins the value or comes after white space.
    fileprivate var withoutComment: Substring {
        var previous: Character = " "
        for index in indices {
            if self[index] == "#", previous.isWhitespace { return self[..<index].trimmed }
            previous = self[index]
        }
        return self
    }
}

/// A problem in a settings file. `description` is one line: the place, the cause, the next step.
public struct SettingsProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file's path, as given.
    public let path: String
    /// Counted from 1; nil for the file as a whole.
    public let line: Int?
    /// What is wrong.
    public let reason: String

    /// Creates a problem of a line.
    public init(path: String, line: Int?, _ reason: String) {
        self.path = path
        self.line = line
        self.reason = reason
    }

    /// `FILE:LINE: reason`
    public var description: String {
        "\(path):\(line.map { "\($0):" } ?? "") \(reason)"
    }
}

// MARK: - Keys

/// The keys that a settings file may contain: each is a long option of the command.
public struct SettingsKeys: Sendable {
    /// A long option, without its dashes.
    public struct Option: Sendable, Equatable {
        public let name: String
        /// Whether it is a flag, without a value.
        public let isFlag: Bool
        /// Whether it may be repeated, and all values count.
        public let isRepeating: Bool

        /// Creates an option of the command.
        public init(name: String, isFlag: Bool, isRepeating: Bool) {
            self.name = name
            self.isFlag = isFlag
            self.isRepeating = isRepeating
        }
    }

    private let options: [String: Option]

    /// Creates the keys for a command's options. A flag `no-x` next to a flag `x` is the key `x` with the
    /// value `no`.
    public init(_ options: [Option]) {
        self.options = Dictionary(options.map { ($0.name, $0) }) { first, _ in first }
    }

    /// In alphabetical order.
    public var names: [String] { options.keys.filter { !isInversion($0) }.sorted() }

    /// Converts the entries to command-line arguments, in the order of the lines, and returns a problem for
    /// each entry that cannot be converted.
    public func arguments(
        of file: SettingsFile
    ) -> (arguments: [(line: Int, argument: String?)], problems: [SettingsProblem]) {
        var arguments: [(line: Int, argument: String?)] = []
        var problems: [SettingsProblem] = []
        var lines: [String: Int] = [:]
        for entry in file.entries {
            let problem = reason(against: entry, givenIn: lines[entry.key])
            lines[entry.key] = lines[entry.key] ?? entry.line
            if let problem {
                problems.append(SettingsProblem(path: file.path, line: entry.line, problem))
            } else {
                arguments.append((entry.line, argument(for: entry)))
            }
        }
        return (arguments, problems)
    }

    private func reason(against entry: SettingsFile.Entry, givenIn earlier: Int?) -> String? {
        guard let option = options[entry.key], !isInversion(entry.key) else {
            let nearest = names.nearest(to: entry.key).map { "the nearest is '\($0)'" }
            return
                "unknown key '\(entry.key)'; \(nearest ?? "'camrec --help' lists the options, which are the keys")"
        }
        if let earlier, !option.isRepeating {
            return "'\(entry.key)' is already in line \(earlier); leave one out"
        }
        if option.isFlag, entry.value != "yes", entry.value != "no" {
            return "'\(entry.key)' is '\(entry.value)'; write yes or no"
        }
        return entry.value.isEmpty ? "'\(entry.key)' has no value; write one, or leave the line out" : nil
    }

    /// Nil for a flag that is not set.
    private func argument(for entry: SettingsFile.Entry) -> String? {
        guard options[entry.key]?.isFlag == true else { return "--\(entry.key)=\(entry.value)" }
        if entry.value == "yes" { return "--\(entry.key)" }
        return options["no-\(entry.key)"] == nil ? nil : "--no-\(entry.key)"
    }

    private func isInversion(_ name: String) -> Bool {
        name.hasPrefix("no-") && options[String(name.dropFirst(3))]?.isFlag == true
    }
}

// MARK: - Quantities

extension String {
    /// Splits a quantity such as `500ms` into number and unit. The number is nil
    /// if the text begins with no number.
    public func splitUnit() -> (number: Double?, unit: String) {
        let digits = prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        return (Double(digits), String(dropFirst(digits.count)))
    }
}
