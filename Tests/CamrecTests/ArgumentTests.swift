import Glibc
import CamCommandLine
import Testing

@testable import camrec

/// What users type, and how camrec answers.
@Suite struct ArgumentTests {
    @Test("a negative number belongs to the option before it")
    func negativeNumbers() {
        func joined(_ words: [String]) -> [String] {
            ArgumentText.joiningNegativeNumbers(words, flags: ["overwrite"])
        }
        #expect(joined(["--frames", "-1", "x"]) == ["--frames=-1", "x"])
        let others = ["-", "-v", "--frames=3", "-1", "--", "-2", "x", "-3", "--overwrite", "-1.h264"]
        #expect(joined(others) == others)
    }

    @Test("an option with nothing after its '=' does not take the next word")
    func emptyValue() throws {
        #expect(
            ArgumentText.emptyValue(in: ["--frames=9", "--report=", "a.h264"])
                == "'--report=' has no value; write one, or leave the option out")
        #expect(ArgumentText.emptyValue(in: ["--control=a=", "--", "--report=", "a="]) == nil)
    }

    @Test("finds words that are not UTF-8")
    func notUTF8() throws {
        func damage(_ words: [[UInt8]]) -> String? {
            let pointers = words.map { word in
                strdup(word.map(CChar.init(truncatingIfNeeded:)) + [0])
            }
            defer { for pointer in pointers { free(pointer) } }
            var list = pointers + [nil]
            return list.withUnsafeMutableBufferPointer { $0.baseAddress.flatMap(ArgumentText.damage) }
        }
        #expect(damage([Array("camrec".utf8), Array("café.h264".utf8)]) == nil)
        let problem = try #require(damage([[0x61], [0x63, 0xe9, 0x2e]]))
        #expect(problem.hasPrefix("argument 1, 'c?.', is not UTF-8; "))
    }

    private func unknown(_ words: String...) -> String? { unknown(words) }

    private func unknown(_ words: [String]) -> String? {
        let given = CommandLineWords(words)
        return given.unknownOption.mistake(in: given.words)
    }

    @Test(
        "answers an unknown option with what to type",
        arguments: [
            ("-t", "use --duration"), ("-v", "use --verbose, or --version"),
            ("-o", "name the OUTPUT without an option"),
            ("--durtion=3", "use --duration"), ("--bitrat", "use --bitrate"),
            ("-z", "'camrec --help' lists them"), ("-1.h264", "write ./-1.h264"),
        ])
    func unknownOptions(word: String, advice: String) throws {
        #expect(try #require(unknown("-", word, "10s", "x.h264")).contains(advice))
    }

    @Test(
        "does so in every other command",
        arguments: [
            ("inspect", "--nall", "use --nal"), ("devices", "--jsn", "use --json"),
            ("doctor", "--encod", "use --encode"),
            ("remux", "--timestamp", "use --timestamps"),
            ("check", "--foo", "'camrec check --help' lists them"),
            ("adopt", "--foo", "'camrec adopt --help' lists them"),
            ("ctl", "-t", "'camrec ctl --help' lists them"),
            ("record", "--framse", "use --frames"), ("inspect", "-o", "'camrec inspect --help' lists them"),
        ])
    func unknownOptionsOfCommands(command: String, word: String, advice: String) throws {
        let mistake = try #require(unknown(command, "x", word))
        #expect(mistake == "unknown option '\(word)'; \(advice)")
    }

    @Test("accepts every option that exists")
    func knownOptions() {
        let names = RecordCommand.longOptions
        #expect(names.count > 40)
        let words = names.map { "--\($0)=1" } + ["-", "-h", "--help", "--", "-x"]
        #expect(unknown(words) == nil)
    }

    @Test(
        "options that use one place may not be repeated",
        arguments: ["control-socket", "report", "timestamps", "device", "settings"])
    func twice(option: String) throws {
        func mistake(_ words: [String]) -> String? { RepeatedOption.mistake(in: CommandLineWords(words)) }
        let words = ["--\(option)", "9982", "--\(option)=9983", "a.h264"]
        #expect(try #require(mistake(words)).hasPrefix("--\(option) is given twice; leave one out"))
        #expect(mistake(Array(words.dropFirst(2))) == nil)
        #expect(mistake(["--\(option)=1", "--", "--\(option)=2"]) == nil)
        #expect(mistake(["inspect"] + words) == nil)
    }

    @Test("keeps the settings' --output next to an OUTPUT")
    func output() throws {
        func mistake(_ words: String...) -> String? { RepeatedOption.mistake(in: CommandLineWords(words)) }
        #expect(
            try #require(mistake("--output", "a.h264", "b.h264")).hasSuffix(
                "name each OUTPUT without an option"))
        #expect(mistake("--output", "a.h264") == nil && mistake("--output=a.h264", "--output=b.h264") == nil)
    }

    @Test("for other options, the last value counts, or all do")
    func lastCounts() throws {
        let words = ["--frames=5", "--frames=6", "--control=a=1", "--control=b=2", "a.h264"]
        #expect(RepeatedOption.mistake(in: CommandLineWords(words)) == nil)
        #expect(try RecordCommand.parse(words).length.frames == 6)
        #expect(try RecordCommand.parse(words).source.controlLists.count == 2)
    }

    @Test("finds words that are neither options nor values")
    func operands() {
        func operands(_ words: String...) -> [String] {
            CommandLineWords(words).operands(of: CommandOptions(of: RecordCommand.self))
        }
        #expect(
            operands("--frames", "9", "a", "--overwrite", "b", "--size=1x1", "c", "-") == [
                "a", "b", "c", "-",
            ])
        #expect(operands("record", "a", "--", "--frames", "b") == ["a", "--frames", "b"])
        #expect(operands("a", "--", "--frames") == ["a", "--frames"])
        #expect(operands("--frames", "-1", "--listen", "9", "--listen") == [])
    }

    @Test(
        "answers an unreadable value with what it must be",
        arguments: [
            ("--duration", "1w", "1h30m"), ("--codec", "h266", "hevc for H.265"),
            ("--size", "640", "1280x720"),
            ("--fps", "x", "29.97"), ("--wait", "soon", "forever"), ("--keyframe-interval", "0", "50,2s"),
            ("--segment", "x", "1000f"), ("--keep", "x", "7d"), ("--min-free", "x", "10%"),
            ("--level", "9.9", "or auto"), ("--format", "toolong", "FourCC"),
            ("--control", "x", "NAME=VALUE"),
        ])
    func requirements(option: String, value: String, requirement: String) throws {
        let error = try #require(throws: (any Error).self) {
            try RecordCommand.parse([option, value, "a.h264"])
        }
        #expect(RecordCommand.message(for: error).contains(requirement))
    }

    @Test(
        "the service manager's own variables mark a service, not a shell's",
        arguments: [
            ([:], false), (["INVOCATION_ID": "1"], false),
            (["INVOCATION_ID": "1", "SYSTEMD_EXEC_PID": "41"], false),
            (["JOURNAL_STREAM": "8:9"], false), (["NOTIFY_SOCKET": "/run/x"], true),
            (["SYSTEMD_EXEC_PID": "42"], true), (["JOURNAL_STREAM": "8:10"], true),
        ] as [([String: String], Bool)])
    func service(variables: [String: String], isService: Bool) {
        let environment = ServiceEnvironment(
            variable: { variables[$0] }, process: 42, standardError: "8:10")
        #expect(environment.hasManager == isService)
    }
}
