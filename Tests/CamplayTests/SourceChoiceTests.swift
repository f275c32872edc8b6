import Testing
import ArgumentParser
import CamCommandLine
import Glibc

@testable import camplay

/// What camplay reads, and its short help.
@Suite struct SourceChoiceTests {
    private func refusal(_ source: String) -> String? {
        do {
            _ = try Camplay.parse([source])
            return nil
        } catch { return ParserMessage.line(Camplay.message(for: error)) }
    }

    @Test("says what to do about a file that cannot be opened")
    func unopened() {
        #expect(
            PlayError.notOpened("a.h264", errno: EMFILE).description
                == "cannot open a.h264: too many open files; raise 'ulimit -n'")
        #expect(
            PlayError.notOpened("a.h264", errno: EACCES).description
                == "cannot open a.h264: Permission denied; check its permissions")
    }

    @Test(
        "names the player for an address that it does not read",
        arguments: [
            ("rtsp://camera/live", "use ffplay -rtsp_transport tcp 'rtsp://camera/live', or mpv"),
            ("srt://host:9000", "use ffplay 'srt://host:9000', or mpv"),
            ("udp://@:1234", "use ffplay 'udp://@:1234'"),
            ("http://host/a.mkv", "use ffplay 'http://host/a.mkv'"),
            ("file:///a.mkv", "use the file's path alone"),
            ("gopher://host", "expected tcp://HOST:PORT"), ("tcp://host:0", "expected tcp://HOST:PORT"),
        ])
    func addresses(source: String, advice: String) throws {
        #expect(try #require(refusal(source)).contains(advice))
    }

    @Test("-h fits a screen, and its examples and options exist")
    func shortHelp() {
        let help = Camplay.shortHelp
        #expect(ShortHelp.answer(to: ["-h"], short: help, help: "") == .text(help.text))
        #expect(help.text.count { $0 == "\n" } <= 40)
        #expect(help.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(help.examples.count == 6 && help.options.count == 10)
        for example in help.examples {
            let words = example.text.split(separator: " ").map(String.init)
            #expect(throws: Never.self, "\(example.text)") { try Camplay.parse(Array(words.dropFirst())) }
        }
        let names = CommandOptions(of: Camplay.self).names
        for option in help.options {
            #expect(names.contains(String(option.text.prefix { $0 != " " }.dropFirst(2))), "\(option.text)")
        }
    }

    @Test("a topic is a section of --help")
    func topics() {
        guard
            case .text(let text)? = ShortHelp.answer(
                to: ["help", "display"], short: Camplay.shortHelp, help: Camplay.helpMessage())
        else {
            Issue.record("no text")
            return
        }
        #expect(text.hasPrefix("DISPLAY:\n  --no-window"))
    }
}
