import CamPlatform
import Testing

@Suite struct SettingsTests {
    private let keys = SettingsKeys([
        .init(name: "bitrate", isFlag: false, isRepeating: false),
        .init(name: "size", isFlag: false, isRepeating: false),
        .init(name: "output", isFlag: false, isRepeating: true),
        .init(name: "overwrite", isFlag: true, isRepeating: false),
        .init(name: "pace", isFlag: true, isRepeating: false),
        .init(name: "no-pace", isFlag: true, isRepeating: false),
    ])

    private func file(_ text: String) -> SettingsFile { SettingsFile(path: "door.conf", text: text) }

    private func arguments(_ text: String) -> [String] {
        keys.arguments(of: file(text)).arguments.compactMap(\.argument)
    }

    private func problems(_ text: String) -> [String] {
        let file = file(text)
        return (file.problems + keys.arguments(of: file).problems).map(\.description)
    }

    @Test func oneSettingALine() {
        #expect(arguments("bitrate = 4M\nsize=640x480\n") == ["--bitrate=4M", "--size=640x480"])
    }

    @Test func emptyLinesAndCommentsSayNothing() {
        #expect(arguments("\n  # bitrate = 4M\n\t\n#size=1x1\nbitrate = 4M # enough") == ["--bitrate=4M"])
    }

    @Test func aByteOrderMarkSaysNothing() {
        #expect(arguments("\u{FEFF}bitrate = 4M") == ["--bitrate=4M"])
    }

    @Test func moreThanAnyoneWritesIsNoSettingsFile() {
        let text = String(repeating: "output = a.h264\n", count: 300)
        #expect(arguments(text).count == 256)
        #expect(problems(text) == ["door.conf:257: more than 256 settings; not a settings file"])
    }

    @Test func quotesKeepWhatWouldBeAComment() {
        #expect(arguments("output = \"my #1.h264\" # the first") == ["--output=my #1.h264"])
    }

    @Test func aValueMayHaveSignsOfEquality() {
        #expect(arguments("output = a=b#c.h264") == ["--output=a=b#c.h264"])
    }

    @Test func linesMayEndAsOnWindows() {
        #expect(arguments("bitrate = 4M\r\nsize = 640x480\r\n") == ["--bitrate=4M", "--size=640x480"])
    }

    @Test func flagsAreYesOrNo() {
        #expect(arguments("overwrite = yes\npace = yes") == ["--overwrite", "--pace"])
        #expect(arguments("overwrite = no\npace = no") == ["--no-pace"])
        #expect(problems("overwrite = 1") == ["door.conf:1: 'overwrite' is '1'; write yes or no"])
    }

    @Test func outputsMayBeMany() {
        #expect(arguments("output = a.h264\noutput = b.h265") == ["--output=a.h264", "--output=b.h265"])
    }

    @Test func otherKeysAreGivenOnce() {
        #expect(
            problems("bitrate = 4M\n\nbitrate = 5M") == [
                "door.conf:3: 'bitrate' is already in line 1; leave one out"
            ])
    }

    @Test func anUnknownKeyNamesTheNearest() {
        #expect(problems("bitrat = 4M") == ["door.conf:1: unknown key 'bitrat'; the nearest is 'bitrate'"])
        #expect(
            problems("\nvolume = 11") == [
                "door.conf:2: unknown key 'volume'; 'camrec --help' lists the options, which are the keys"
            ])
    }

    @Test(arguments: [
        ("bitrate 4M", "'bitrate 4M' has no '='; write key = value"),
        ("= 4M", "no key before the '='; write key = value"),
        ("bitrate =", "'bitrate' has no value; write one, or leave the line out"),
        ("output = \"a", "the quote is not closed; end the value with '\"'"),
        ("output = \"a\" b", "'b' after the closing quote; remove it"),
        ("output = a\u{0}b", "a control character; write plain text"),
    ])
    func whatIsNoSettingIsTold(line: String, reason: String) {
        #expect(problems("size = 1x1\n\(line)") == ["door.conf:2: \(reason)"])
    }

    @Test func aMissingFileIsOneProblem() {
        let reason = "no such file; check its name and folder"
        for path in ["/nowhere/door.conf", "/dev/null/door.conf"] {
            #expect(throws: SettingsProblem(path: path, line: nil, reason)) { try SettingsFile(path: path) }
        }
        let long = String(repeating: "a", count: 5000)
        let error = #expect(throws: SettingsProblem.self) { try SettingsFile(path: long) }
        #expect(error?.reason == "reading failed: File name too long; check its name and permissions")
    }

    @Test func whatIsNoFileIsNotRead() {
        #expect(throws: SettingsProblem(path: "/dev/zero", line: nil, "not a settings file")) {
            try SettingsFile(path: "/dev/zero")
        }
    }

    @Test func namesThatAreFarAreNotMeant() {
        #expect(["bitrate", "size"].nearest(to: "Bit-rate") == "bitrate")
        #expect(["bitrate", "size"].nearest(to: "volume") == nil)
        #expect([].nearest(to: "size") == nil)
    }
}
