import Testing

@testable import camrec

/// A word that was meant as a command records nothing.
@Suite struct CommandWordTests {
    private func mistake(_ arguments: String...) -> String? {
        CommandWord.mistake(in: arguments, with: arguments)
    }

    @Test(
        "a mistyped command is refused with the nearest one",
        arguments: [
            ("inspct", "'camrec inspect'"), ("device", "'camrec devices'"), ("recrod", "'camrec record'"),
            ("docter", "'camrec doctor'"), ("list", "'camrec devices'"), ("play", "'camplay'"),
            ("stop", "'camrec ctl SOCKET stop'"), ("status", "'camrec ctl SOCKET stats'"),
        ])
    func mistyped(word: String, nearest: String) throws {
        let answer = try #require(mistake(word, "x.h264"))
        #expect(answer.hasPrefix("'\(word)' is not a command; the nearest is \(nearest); "))
        #expect(answer.hasSuffix("add --codec h264 or --codec hevc"))
    }

    @Test("where no command comes near, all are listed")
    func unlike() throws {
        let answer = try #require(mistake("holidays"))
        #expect(answer.contains("the commands are record, devices, inspect, remux, ctl, doctor, check"))
    }

    @Test("commands, options, outputs and streams are no mistakes")
    func sound() {
        for word in [
            "record", "devices", "encoder-trial", "help", "--frames", "-", "out.h264", "./out", "/dev/stdout",
        ] {
            #expect(mistake(word) == nil, "\(word)")
        }
        #expect(mistake() == nil)
    }

    @Test("--codec says that a word is a file, also where it stands in the settings")
    func withCodec() {
        #expect(mistake("stop", "--codec", "h264") == nil)
        #expect(mistake("stop", "--codec=hevc") == nil)
        #expect(
            CommandWord.mistake(in: ["stop", "--settings", "x"], with: ["record", "--codec=h264", "stop"])
                == nil)
    }
}
