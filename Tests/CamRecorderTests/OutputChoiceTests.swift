import Bitstream
import CamRecorder
import Testing
import CamPlatform
import Containers

/// What an OUTPUT argument means.
@Suite struct OutputChoiceTests {
    @Test("the name determines the format and the codec, unless another codec is requested")
    func names() {
        let plain = OutputChoice(path: "a.h265", codec: nil)
        #expect(plain.codec == .hevc)
        let other = OutputChoice(path: "a.h265", codec: .h264)
        #expect(other.codec == .h264)
        let container = OutputChoice(path: "a.mkv", codec: nil)
        #expect(container.codec == .h264 && ContainerFormat(container.form) == .matroska && container.isFile)
    }

    @Test("an address is a live output that connects out")
    func address() {
        let choice = OutputChoice(path: "tcp://127.0.0.1:9982", codec: nil)
        #expect(choice.isLive && choice.isConnecting && !choice.isFile)
    }

    @Test("standard output and devices are not files", arguments: ["-", "/dev/stdout", "/dev/null"])
    func streams(path: String) {
        let choice = OutputChoice(path: path, codec: .h264)
        #expect(!choice.isFile && !choice.isPattern && !choice.isLive)
    }

    @Test("a date in a single file's name")
    func dated() {
        let choice = OutputChoice(path: "rec/%Y/%H.h264", codec: nil).dated(
            at: WallTime(seconds: 0), isUTC: true)
        #expect(choice.path == "rec/1970/00.h264" && choice.datedBelow == "rec")
        let plain = OutputChoice(path: "plain.h264", codec: nil).dated(at: WallTime(seconds: 0), isUTC: true)
        #expect(plain.path == "plain.h264" && plain.datedBelow == nil)
    }

    @Test(
        "the folder whose disk is asked for has no date",
        arguments: [
            ("rec/%Y-%m-%d/%H%M%S.mkv", "rec"), ("/srv/%Y/a.mkv", "/srv"), ("%Y-%m-%d/%H%M%S.mkv", "."),
            ("rec/a.mkv", "rec"), ("a.mkv", "."), ("-", nil), ("tcp://127.0.0.1:9", nil),
        ] as [(String, String?)])
    func standingFolder(path: String, folder: String?) {
        let choice = OutputChoice(path: path, codec: nil)
        #expect(choice.standingFolder == folder)
        #expect(choice.dated(at: WallTime(seconds: 0), isUTC: true).standingFolder == folder)
    }
}

extension ContainerFormat {
    fileprivate init?(_ form: OutputChoice.Form) {
        guard case .container(let format) = form else { return nil }
        self = format
    }
}
