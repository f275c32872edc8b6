import Glibc
import Terminal
import Testing

@testable import camrec

/// What is typed, and what is answered.
@Suite struct ArgumentTests {
    @Test("a negative number belongs to the option before it")
    func negativeNumbers() {
        #expect(ArgumentText.joiningNegativeNumbers(["--frames", "-1", "x"]) == ["--frames=-1", "x"])
        let others = ["-", "-v", "--frames=3", "-1", "--", "-2", "x", "-3"]
        #expect(ArgumentText.joiningNegativeNumbers(others) == others)
    }

    @Test("words that are not UTF-8 are found")
    func notUTF8() throws {
        func damage(_ words: [[UInt8]]) -> String? {
            let pointers = words.map { word in
                strdup(word.map(CChar.init(bitPattern:)) + [0])
            }
            defer { for pointer in pointers { free(pointer) } }
            var list = pointers + [nil]
            return list.withUnsafeMutableBufferPointer { $0.baseAddress.flatMap(ArgumentText.damage) }
        }
        #expect(damage([Array("camrec".utf8), Array("café.h264".utf8)]) == nil)
        let problem = try #require(damage([[0x61], [0x63, 0xe9, 0x2e]]))
        #expect(problem.hasPrefix("argument 1, 'c?.', is not UTF-8; "))
    }

    @Test(
        "an unknown option is answered with what to type",
        arguments: [
            ("-t", "use --duration"), ("-v", "use --verbose, or --version"), ("-o", "OUTPUT alone"),
            ("--durtion=3", "use --duration"), ("--bitrat", "use --bitrate"),
            ("-z", "'camrec --help' lists them"),
        ])
    func unknownOptions(word: String, advice: String) throws {
        let mistake = UnknownOption.mistake(
            in: ["-", word, "10s", "x.h264"], names: RecordCommand.longOptions)
        #expect(try #require(mistake).hasSuffix(advice) || mistake?.contains(advice) == true)
    }

    @Test("no option that there is counts as unknown")
    func knownOptions() {
        let names = RecordCommand.longOptions
        #expect(names.count > 40)
        let words = names.map { "--\($0)=1" } + ["-", "-h", "--help", "--", "-x"]
        #expect(UnknownOption.mistake(in: words, names: names) == nil)
    }

    @Test(
        "a value that cannot be read is answered with what it has to be",
        arguments: [
            ("--duration", "1d", "24h"), ("--codec", "h265", "hevc for H.265"), ("--size", "640", "1280x720"),
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
        "what makes a service is its manager's own variables, not a shell's",
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
