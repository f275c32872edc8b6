import Testing

@testable import camrec

/// A word that was meant as a command must not become a recording.
@Suite struct CommandWordTests {
    private func mistake(_ arguments: String...) -> String? {
        CommandWord.mistake(in: CommandLineWords(arguments), with: arguments)
    }

    @Test(
        "refuses a mistyped command and names the nearest one",
        arguments: [
            ("inspct", "'camrec inspect'"), ("device", "'camrec devices'"), ("recrod", "'camrec record'"),
            ("docter", "'camrec doctor'"), ("snapshto", "'camrec snapshot'"), ("list", "'camrec devices'"),
            ("play", "'camplay'"),
            ("stop", "'camrec ctl SOCKET stop'"), ("status", "'camrec ctl SOCKET stats'"),
        ])
    func mistyped(word: String, nearest: String) throws {
        let answer = try #require(mistake(word, "x.h264"))
        #expect(answer.hasPrefix("'\(word)' is not a command; the nearest is \(nearest); "))
        #expect(answer.hasSuffix("add --codec h264 or --codec hevc"))
    }

    @Test("lists all commands if none is near")
    func unlike() throws {
        let answer = try #require(mistake("holidays"))
        #expect(
            answer.contains("the commands are record, snapshot, devices, inspect, remux, ctl, doctor, check"))
    }

    @Test("accepts commands, options, outputs and streams")
    func sound() {
        for word in [
            "record", "devices", "encoder-trial", "help", "--frames", "-", "out.h264", "./out", "/dev/stdout",
        ] {
            #expect(mistake(word) == nil, "\(word)")
        }
        #expect(mistake() == nil)
    }

    @Test("--codec turns a word into a file, in the settings too")
    func withCodec() {
        #expect(mistake("stop", "--codec", "h264") == nil)
        #expect(mistake("stop", "--codec=hevc") == nil)
        #expect(
            CommandWord.mistake(
                in: CommandLineWords(["stop", "--settings", "x"]), with: ["record", "--codec=h264", "stop"])
                == nil)
    }

    @Test(
        "refuses a word after options and outputs as well",
        arguments: [
            (
                ["--device", "test", "stauts"],
                "'stauts' is not a command; the nearest is 'camrec ctl SOCKET stats'; "
            ),
            (
                ["--frames", "9", "a.h264", "stop"],
                "'stop' is not a command; the nearest is 'camrec ctl SOCKET stop'; "
            ),
            (["record", "inspct"], "'inspct' is not a command; the nearest is 'camrec inspect'; "),
            (["--quiet", "devices"], "'devices' is a command and must come first: camrec devices"),
            (["record", "doctor"], "'doctor' is a command and must come first: camrec doctor"),
            (["a.h264", "--", "stop"], "'stop' is not a command; "),
        ])
    func behind(words: [String], reason: String) throws {
        let answer = try #require(CommandWord.mistake(in: CommandLineWords(words), with: words))
        #expect(answer.hasPrefix(reason))
    }

    @Test(
        "accepts values of options and words of other commands",
        arguments: [
            ["--device", "test", "a.h264"], ["--encoder", "software", "a.h264"],
            ["--report", "stop", "a.h264"],
            ["inspect", "stop"], ["ctl", "socket", "stop"], ["--listen", "camera", "a.h264"],
            ["help", "inspect"],
            ["a.h264", "holidays"],
        ])
    func values(words: [String]) {
        #expect(CommandWord.mistake(in: CommandLineWords(words), with: words) == nil)
    }
}
