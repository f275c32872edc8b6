import ArgumentParser
import CamCommandLine
import Testing

@testable import camrec

// A debug build of the parser checks the whole command again for each command line.
#if DEBUG
    let parsesQuickly = false
#else
    let parsesQuickly = true
#endif

/// Every option and argument of every command with unlikely values: each is accepted, or rejected with what
/// it must be.
@Suite struct ValueWalkTests {
    private static let commands = Camrec.configuration.subcommands
    /// In a debug build without those that have most options, which would take minutes.
    private static let walked =
        parsesQuickly
        ? commands : commands.filter { !["record", "snapshot"].contains($0.configuration.commandName ?? "") }

    private static let values = [
        "", " ", "-1", "-0", "0", "abc", "yes", "nan", "inf", "1e999", "0x10", "1,2", "1=2", "=", ",", "\n",
        "a\nb", "\u{1b}[2J",
        "é", "٣", "\u{202e}", "99999999999999999999999999", "-99999999999999999999999999", "1.5.2", "5 M",
        "10M10M", "'", "; ", "99999999h", "99999999G",
        String(repeating: "9", count: 400), String(repeating: "a", count: 5000), "%", "..", "/",
    ]

    /// Options whose value may be any text, of every command or of one.
    private static let texts: Set<String> = [
        "device", "input", "standard", "render-node", "listen", "control-socket", "settings", "report",
        "timestamps", "output", "privacy-mask", "on-segment", "on-event", "overlay",
        "keep to", "html", "avcc", "avcc-record", "record", "annexb", "node", "control", "format",
    ]

    /// The other arguments that each command needs.
    private static let operands: [String: [String]] = [
        "record": ["a.h264"], "snapshot": ["a.jpg"], "inspect": ["a.h264"], "remux": ["a.h264", "a.mkv"],
        "ctl": ["socket", "stop"],
        "check": ["a.conf"], "adopt": ["folder"], "keep": ["a.h264"], "encoder-trial": ["--codec=h264"],
    ]

    private func refusal(_ command: any ParsableCommand.Type, _ arguments: [String]) -> String? {
        do {
            _ = try command.parse(arguments)
            return nil
        } catch { return ParserMessage.line(command.message(for: error)) }
    }

    /// After `=` the parser treats an empty value as missing; after a space, a negative one as an option.
    private func given(_ option: String, _ value: String, _ command: String) -> [String] {
        let operands = (Self.operands[command] ?? []).filter { !$0.hasPrefix("--\(option)=") }
        return (value.isEmpty ? ["--\(option)", value] : ["--\(option)=\(value)"]) + operands
    }

    private func isClear(_ reason: String, about value: String) -> Bool {
        let prefix = "the value '\(value)' is invalid for '"
        guard reason.hasPrefix(prefix) else {
            return reason.contains("; ") || reason.contains("': expected ")
        }
        return reason.dropFirst(prefix.count).contains("': expected ") || reason.contains("; ")
    }

    @Test("knows the arguments that each command needs")
    func needs() {
        for command in Self.commands {
            let name = command.configuration.commandName ?? ""
            #expect(refusal(command, Self.operands[name] ?? []) == nil, "\(name)")
        }
    }

    @Test("accepts a value, or says what it must be")
    func options() {
        var count = 0
        for command in Self.walked {
            let name = command.configuration.commandName ?? ""
            for option in CommandOptions(of: command).all where !option.isFlag {
                for value in Self.values {
                    count += 1
                    let arguments = given(option.name, value, name)
                    guard let reason = refusal(command, arguments) else { continue }
                    #expect(isClear(reason, about: value), "\(name) --\(option.name): \(reason)")
                }
            }
        }
        #expect(count > (parsesQuickly ? 1500 : 500))
    }

    @Test("refuses meaningless values")
    func nonsense() {
        for command in Self.walked {
            let name = command.configuration.commandName ?? ""
            // A hidden option that OUTPUT replaces.
            for option in CommandOptions(of: command).all where !option.isFlag && option.name != "output" {
                let isText = Self.texts.contains(option.name) || Self.texts.contains("\(name) \(option.name)")
                let values = isText ? [""] : ["", "abc", "-1", "1,2", "\n", "1e999"]
                for value in values {
                    let arguments = given(option.name, value, name)
                    #expect(refusal(command, arguments) != nil, "\(name) --\(option.name)=\(value)")
                }
            }
        }
    }

    @Test("refuses an empty argument, and says what it must be")
    func arguments() throws {
        for (name, operands) in Self.operands {
            let command = try #require(Self.commands.first { $0.configuration.commandName == name })
            for index in operands.indices where !operands[index].hasPrefix("--") {
                var words = operands
                words[index] = ""
                let reason = try #require(refusal(command, words))
                #expect(reason.contains(": expected ") || reason.contains("; "), "\(name): \(reason)")
            }
        }
    }

    @Test("times have a maximum")
    func longestTime() {
        #expect(TimeSpan(argument: "27777h")?.duration == .seconds(99_997_200))
        #expect(TimeSpan(argument: "27778h") == nil)
        #expect(TimeSpan(argument: "99999999h") == nil)
    }

    @Test("prints a list of values as a phrase")
    func lists() {
        let message = "The value 'x' is invalid for '--a <b>'"
        let line = "the value 'x' is invalid for '--a <b>'"
        #expect(
            ParserMessage.line(message + ". Please provide one of the following:\n  - auto\n  - cbr\n  - vbr")
                == line + ": expected auto, cbr or vbr")
        #expect(
            ParserMessage.line(message + ". Please provide one of 'h264' and 'hevc'.") == line
                + ": expected h264 or hevc")
        #expect(ParserMessage.line(message + ": expected a path") == line + ": expected a path")
        #expect(ParserMessage.line("Unexpected 'a\nb'.") == "unexpected 'a\nb'")
        #expect(ParserMessage.line("H.265 has no CAVLC") == "H.265 has no CAVLC")
    }

    @Test("prints characters that would break a message's line as codes")
    func control() {
        #expect("a\nb\u{1b}[2J\u{9b}".printable == "a\\x0ab\\x1b[2J\\x9b")
    }
}
