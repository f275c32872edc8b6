import Bitstream
import CamCommandLine
import CamPictures
import CamRecorder
import Encoder
import Testing

@testable import camrec

/// Properties of a rendition at the end of an OUTPUT or of a value of `--listen`.
@Suite struct OutputArgumentTests {
    @Test("the known properties at the end are taken from the name")
    func properties() throws {
        let argument = OutputArgument(
            "sub.mkv,size=640x360,fps=5,bitrate=400k,max-bitrate=1M,keyframe-interval=50,2s,codec=hevc")
        #expect(argument.name == "sub.mkv" && argument.complaint == nil && argument.codec == .hevc)
        var expected = RenditionChoice()
        (expected.size, expected.frameRate) = (PictureSize("640x360"), FrameRate("5"))
        (expected.bitRate, expected.maximumBitRate) = (400_000, 1_000_000)
        expected.keyframeInterval = .frames(50, orSeconds: 2)
        #expect(argument.rendition == expected)
        #expect(OutputArgument("a.ts,keyframe-interval=2s,quality=20").rendition.quality == 20)
        #expect(OutputArgument("9983,size=320x240").name == "9983")
        for text in ["unix:/run/x,mode=660,fps=1", "unix:/run/x,fps=1,mode=660"] {
            let place = OutputArgument(text)
            #expect(place.name == "unix:/run/x,mode=660" && place.rendition.frameRate == FrameRate("1"))
        }
        #expect(OutputArgument("rtsp://host/sub,size=320x240").name == "rtsp://host/sub")
    }

    @Test(
        "a name that was one before there were properties still is",
        arguments: [
            "a.mkv", "a,b.h264", "a,size=640x360.mkv", "a,fps=5.h264", "x,speed=2", "a,b=c", ",", "",
            "a.h264,",
            "size=640x360", "fps=5", "a,Size=2x2",
        ])
    func plainNames(text: String) {
        let argument = OutputArgument(text)
        #expect(argument.name == text && argument.complaint == nil && argument.rendition == RenditionChoice())
    }

    @Test(
        "a value that is none is refused with what is expected",
        arguments: [
            ("size=640", "expected width and height"), ("size=641x360", "use 640x360"),
            ("size=1x1", "use 2x2"),
            ("fps=0", "expected frames a second"), ("fps=", "expected frames a second"),
            ("bitrate=fast", "bit"),
            ("max-bitrate=-1", "bit"), ("quality=52", "1 to 51"), ("codec=vp9", "expected h264"),
            ("keyframe-interval=soon", "expected frames"), ("fps=5,fps=6", "fps is given twice"),
        ])
    func refused(property: String, reason: String) throws {
        let complaint = try #require(OutputArgument("a.mkv,\(property)").complaint)
        #expect(complaint.contains(reason) && !complaint.contains("\n"))
        #expect(try refusal("a.mkv,\(property)") == complaint)
    }

    @Test(
        "nothing of an address is repeated: it may contain a password",
        arguments: ["size=640", "fps=5,fps=6", "quality=99"])
    func secrets(properties: String) throws {
        for address in ["rtsp://a:secret@host/cam", "srt://host:1?passphrase=secretsecret", "a:secret@b"] {
            let complaint = try #require(OutputArgument("\(address),\(properties)").complaint)
            #expect(!complaint.contains("secret"))
        }
    }

    private func refusal(_ arguments: String...) throws -> String? { try refusal(arguments) }

    private func refusal(_ arguments: [String]) throws -> String? {
        do {
            _ = try RecordCommand.parse(arguments)
            return nil
        } catch { return ParserMessage.line(RecordCommand.message(for: error)) }
    }

    @Test("a property with a typing error is named, unless the name can be a file's")
    func typingErrors() throws {
        for arguments in [["sub.mkv,sise=320x240"], ["--listen=9983,sise=320x240"], ["sub.mkv,Size=320x240"]]
        {
            let said = try #require(try refusal(arguments))
            #expect(said.contains("'; use size="), "\(said)")
        }
        #expect(try refusal("--codec=h264", "sub.mkv,sise=320x240") == nil)
        #expect(try refusal("sub.xyz,volume=3")?.contains("not a video format") == true)
        #expect(try refusal("--listen=unix:/run/x,mdoe=660")?.contains("mode") == true)
    }

    private func command(_ arguments: String...) throws -> RecordCommand {
        try RecordCommand.parse(arguments)
    }

    @Test("outputs with equal properties share an encoder, whatever the order of these")
    func sharing() throws {
        let command = try command(
            "a.mkv", "b.mkv,fps=5,size=320x240", "--listen=9982", "--listen=9983,size=320x240,fps=5",
            "c.mkv,codec=hevc"
        )
        #expect(command.renditions.map(\.size) == [nil, PictureSize("320x240"), nil])
        #expect(command.renditions.map(\.codec) == [.h264, .h264, .hevc])
        #expect(command.choices.map { command.renditions.firstIndex(of: $0.rendition) } == [0, 1, 2, 0, 1])
    }

    @Test("standard output has properties, too")
    func standardOutput() throws {
        let words = CommandLineWords(["--codec", "h264", "-,size=320x240", "a.mkv"])
        let command = try #require(try RecordCommand.parseAsRoot(words.words) as? RecordCommand)
        #expect(command.choices.map(\.path) == ["-", "a.mkv"])
        #expect(command.renditions.map(\.size) == [PictureSize("320x240"), nil])
        #expect(words.unknownOption.mistake(in: words.words) == nil)
    }

    @Test("--listen without a value stands for its usual place, before another option and at the end")
    func bareListen() throws {
        func places(_ words: String...) throws -> [String] {
            try RecordCommand.parse(CommandLineWords(words).words).live.listeners.map { "\($0.address)" }
        }
        #expect(try places("--listen") == ["127.0.0.1:9982"])
        #expect(try places("--listen", "--fps", "5", "a.mkv") == ["127.0.0.1:9982"])
        #expect(try places("--listen", "9983,fps=5", "--listen") == ["127.0.0.1:9983", "127.0.0.1:9982"])
    }

    @Test("without their files, live outputs keep the codecs that they had")
    func withoutFiles() throws {
        let command = try command(
            "a.h265", "--listen=9982,codec=h264", "--listen=9983", "--serve-on", "--frames=9")
        #expect(command.withoutFiles.choices.map(\.codec) == [.h264, .hevc])
    }

    @Test("rates of the recording are not those of a rendition with other pictures; a quality is")
    func rates() throws {
        func rates(_ arguments: String...) throws -> [RateControlRequest] {
            try RecordCommand.parse(arguments).configurations.map(\.rateControl)
        }
        let first = try rates(
            "--bitrate=4M", "--max-bitrate=8M", "a.mkv", "b.mkv,size=320x240", "c.mkv,bitrate=1M")
        #expect(first.map(\.bitRate) == [4_000_000, nil, 1_000_000])
        #expect(first.map(\.maximumBitRate) == [8_000_000, nil, 8_000_000])
        let second = try rates(
            "--quality=20", "a.mkv", "b.mkv,size=320x240", "c.mkv,quality=30", "d.mkv,bitrate=1M")
        #expect(second.map(\.quality) == [20, 20, 30, nil])
    }

    @Test(
        "what cannot be combined is refused",
        arguments: [
            (["--format=h264", "a.mkv", "b.mkv,size=320x240"], "one size and one rate"),
            (["--every=5s", "a.mkv,fps=2"], "leave out fps="),
            (["--jpeg=gpu", "a.mkv", "b.mkv,size=320x240"], "--jpeg gpu"),
            (["--zero-copy=on", "a.mkv", "b.mkv,size=320x240"], "--zero-copy on"),
            (["a.mkv,bitrate=2M,max-bitrate=1M"], "is below"),
            (["--bitrate=4M", "a.mkv", "b.mkv,max-bitrate=2M"], "is below"),
            (["--max-bitrate=1M", "a.mkv", "b.mkv,bitrate=2M"], "is below"),
            (["--rate-control=cqp", "--qp=30", "a.mkv", "b.mkv,bitrate=400k"], "cqp does not use"),
            (["--rate-control=cbr", "a.mkv", "b.mkv,quality=20"], "cbr does not use"),
            (["a.h264,codec=hevc"], "name for H.264"),
            (["--listen=9982", "--listen=127.0.0.1:9982"], "is given twice"),
            (["--listen=9982,size=3x3"], "use 2x2"),
            (["--level=1", "a.mkv,size=1920x1080"], "level 1 is too low"),
        ])
    func contradictions(arguments: [String], reason: String) throws {
        do {
            _ = try RecordCommand.parse(arguments)
            Issue.record("\(arguments) is accepted")
        } catch {
            let message = ParserMessage.line(RecordCommand.message(for: error))
            #expect(message.contains(reason), "\(message)")
        }
    }
}
