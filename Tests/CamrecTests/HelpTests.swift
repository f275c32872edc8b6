import ArgumentParser
import CamCommandLine
import CamRecorder
import Testing

@testable import camrec

/// The help that a newcomer reads first.
@Suite struct HelpTests {
    private func answer(_ words: String...) -> HelpAnswer? { Camrec.helpAnswer(to: CommandLineWords(words)) }

    @Test(
        "-h fits a screen, with six examples and ten options",
        arguments: [["-h"], ["help"], ["record", "-h"]])
    func short(words: [String]) {
        let text = Camrec.shortHelp.text
        #expect(Camrec.helpAnswer(to: CommandLineWords(words)) == .text(text))
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count <= 40)
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(Camrec.shortHelp.examples.count == 6 && Camrec.shortHelp.options.count == 10)
    }

    @Test(
        "a command line that asks for no help makes none: that would slow down each start",
        arguments: [["out.mkv"], ["--help"], ["--", "-h"], ["help", "--help"], ["help", "a", "b"]])
    func none(words: [String]) {
        var made = 0
        func make<Text>(_ text: Text) -> Text {
            made += 1
            return text
        }
        let answer = ShortHelp.answer(
            to: words, short: make(ShortHelp("", examples: [], options: [], more: [])), help: make(""))
        #expect(answer == nil)
        #expect(made == 0)
    }

    @Test("each example is a command line that camrec accepts")
    func examples() throws {
        for example in Camrec.shortHelp.examples {
            let words = example.text.prefix { $0 != "|" }.split(separator: " ").map(String.init)
            #expect(words.first == "camrec")
            #expect(throws: Never.self, "\(example.text)") {
                let command = try Camrec.parseAsRoot(Array(words.dropFirst()))
                #expect(command is RecordCommand)
            }
        }
    }

    @Test("each option that it shows exists")
    func options() {
        for option in Camrec.shortHelp.options {
            let name = option.text.prefix { $0 != " " }.dropFirst(2)
            #expect(RecordCommand.longOptions.contains(String(name)), "\(option.text)")
        }
    }

    @Test(
        "a topic is a section of the whole help",
        arguments: [
            ("source", "SOURCE:\n  --device"), ("rate-and-quality", "RATE AND QUALITY:\n  --bitrate"),
            ("rate", "RATE AND QUALITY:"), ("lapse", "TIME LAPSE:"), ("Examples", "Examples:\n  camrec"),
            ("exit-codes", "Exit codes: 0 done"), ("usage", "USAGE: camrec"), ("--keep", "SEGMENTS:\n"),
            ("overlay-box", "PICTURE:\n"), ("no-pace", "SOURCE:\n"),
        ])
    func topics(topic: String, beginning: String) throws {
        guard case .text(let text)? = answer("help", topic) else {
            Issue.record("no text on \(topic)")
            return
        }
        #expect(text.hasPrefix(beginning) && text.hasSuffix("\n"))
        #expect(!text.contains("\n\n"))
    }

    @Test("every topic that -h names has a text")
    func namedTopics() throws {
        let entry = try #require(Camrec.shortHelp.more.first { $0.text == "camrec help TOPIC" })
        let topics = entry.meaning.split(separator: ", ").map(String.init)
        #expect(topics.contains("segments") && topics.contains("live") && topics.count > 10)
        for topic in topics {
            guard case .text? = answer("help", topic) else {
                Issue.record("no text on \(topic)")
                continue
            }
        }
    }

    @Test("names the topics to somebody who asks for another")
    func unknownTopic() {
        guard case .unknown(let reason)? = answer("help", "holidays") else {
            Issue.record("holidays are no topic")
            return
        }
        #expect(reason.hasPrefix("'holidays' is not a topic; the topics are overview, examples, "))
    }

    @Test(
        "leaves everything else to the parser",
        arguments: [
            ["--help"], ["help", "inspect"], ["help", "encoder-trial"], ["inspect", "-h"],
            ["help", "--help"],
            ["a.h264"], ["--", "-h"], [], ["help", "source", "picture"],
        ])
    func others(words: [String]) { #expect(Camrec.helpAnswer(to: CommandLineWords(words)) == nil) }

    @Test("the commands of ctl stand in columns")
    func ctl() throws {
        #expect(CtlCommand.commands.map { String($0.text.prefix { $0 != " " }) } == ControlCommand.names)
        let help = CtlCommand.helpMessage(columns: 80)
        let table = try #require(help.split(separator: "\n\n").first { $0.hasPrefix("Commands:") })
        let lines = table.split(separator: "\n").dropFirst()
        #expect(lines.count > 12 && lines.allSatisfy { $0.count <= 80 })
        let column = 26
        for line in lines {
            let (left, right) = (line.prefix(column), line.dropFirst(column))
            #expect(left.hasSuffix("  ") && right.first != " " && !right.isEmpty, "\(line)")
        }
    }
}
