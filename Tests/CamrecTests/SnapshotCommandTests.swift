import CamCommandLine
import Testing

@testable import camrec

/// What a snapshot is asked for, and what is refused.
@Suite struct SnapshotCommandTests {
    private func refusal(_ words: String...) -> String? {
        do {
            _ = try SnapshotCommand.parse(words)
            return nil
        } catch { return ParserMessage.line(SnapshotCommand.message(for: error)) }
    }

    @Test(
        "the file's name says its format",
        arguments: [
            ("a.jpg", "jpeg"), ("A.JPEG", "jpeg"), ("%F/%H.png", "png"), ("-", "jpeg"),
        ])
    func formats(name: String, format: String) throws {
        #expect(try SnapshotCommand.parse([name]).format?.rawValue == format)
    }

    @Test("any other name is refused", arguments: ["a.gif", "a", "jpg", "a.h264"])
    func names(name: String) throws {
        #expect(try #require(refusal(name)).contains("must be named .jpg, .jpeg or .png"))
    }

    @Test("options that have no effect are refused")
    func refused() throws {
        #expect(refusal("--quality=90", "a.png")?.contains("--quality is for JPEG") == true)
        #expect(refusal("--device=test", "--settle=1s", "a.jpg")?.contains("--settle is for cameras") == true)
        #expect(refusal("--device=a.y4m", "--wait=1s", "a.jpg") == nil)
        #expect(refusal("--format=h264", "a.jpg")?.contains("no single pictures") == true)
        #expect(refusal("--device=test", "--pace", "a.jpg")?.contains("has no pace") == true)
        #expect(refusal("--restore-controls", "a.jpg")?.contains("without --control") == true)
        #expect(refusal("%D.jpg")?.contains("write %F for the date") == true)
        #expect(refusal("--quiet", "--verbose", "a.jpg")?.contains("exclude each other") == true)
    }

    @Test("no time to settle is a choice")
    func settling() throws {
        #expect(try SnapshotCommand.parse(["--settle=0", "a.jpg"]).settle?.seconds == 0)
        #expect(try SnapshotCommand.parse(["--settle=2500ms", "a.jpg"]).settle?.seconds == 2.5)
        #expect(refusal("--settle=61s", "a.jpg") != nil)
        #expect(refusal("--settle=-1s", "a.jpg") != nil)
    }
}
