import ArgumentParser
import FoundationEssentials

/// The options of a command, as ArgumentParser's machine-readable help lists them.
public struct CommandOptions {
    /// A long option, without its dashes.
    public struct Option: Equatable {
        /// The first of `names`; a flag and its inversion are separate options.
        public let name: String
        /// Whether it is a flag, without a value.
        public let isFlag: Bool
        /// Whether it may be repeated, and all values count.
        public let isRepeating: Bool
    }

    /// In the order of the help.
    public let all: [Option]

    /// Reads the options of a command from --experimental-dump-help, the only public list of them.
    public init(of command: any ParsableCommand.Type) {
        let help = try? JSONDecoder().decode(CommandHelp.self, from: Data(command._dumpHelp().utf8))
        all = (help?.command.arguments ?? []).flatMap { argument in
            (argument.names ?? []).filter { $0.kind == "long" }.map {
                Option(
                    name: $0.name, isFlag: argument.kind == "flag", isRepeating: argument.isRepeating)
            }
        }
    }

    /// Without dashes.
    public var names: [String] { all.map(\.name) }

    /// The names of those without a value.
    public var flags: Set<String> { Set(all.filter(\.isFlag).map(\.name)) }
}

/// What ArgumentParser's machine-readable help says about a command (`ToolInfoV0` of its
/// ArgumentParserToolInfo).
private struct CommandHelp: Decodable {
    let command: Command

    struct Command: Decodable {
        let arguments: [Argument]?
    }

    struct Argument: Decodable {
        let kind: String
        let isRepeating: Bool
        let names: [Name]?
    }

    struct Name: Decodable {
        let kind: String
        let name: String
    }
}
