/// What the keys of a settings file mean: each is a long option.
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

    /// Returns the arguments that the entries stand for, in the order of the lines, and what is wrong with
    /// the others.
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
