import ArgumentParser
import CamCommandLine
import Testing

@testable import camplay

/// Options that people know from other players.
@Suite struct ForeignOptionTests {
    private func mistake(_ line: String) -> String? {
        UnknownOption(of: Camplay.self, foreign: ForeignOption.playing, help: "camplay --help")
            .foreignMistake(in: line.split(separator: " ").map(String.init))
    }

    @Test(
        "are answered with the whole option of ours and the user's value",
        arguments: [
            ("-ss 90", "--start 90s"), ("-ss 00:01:30", "--start 00:01:30"),
            ("--start-time=60", "--start 60s"),
            ("-vframes 10", "--frames 10"), ("--rate 2.0", "--speed 2.0"), ("-framerate 25", "--fps 25"),
            ("-an", "--no-sound, or press M in the window"), ("-nodisp", "--no-window"),
            ("--vo=null", "--no-window"),
            ("-o a.h264", "--save a.h264"), ("--stream-record=a.h265", "--save a.h265"),
            ("-o a.y4m", "--output a.y4m"), ("-o a.png", "--snapshot a.png"),
            ("--hwdec=no", "--decoder software"), ("-hwaccel vaapi", "--decoder auto"),
            ("-vaapi_device /dev/dri/renderD129", "--decoder /dev/dri/renderD129"),
            ("-c:v h264_cuvid", "--codec h264"), ("-vcodec hevc", "--codec hevc"),
            ("-f h264", "--codec h264"),
            ("-pix_fmt nv12", "--pixel-format nv12"), ("-y", "--overwrite"),
            ("-vf scale=640:480", "--scale 640x480 with --output or --snapshot"),
        ])
    func translated(theirs: String, ours: String) throws {
        let first = try #require(theirs.split { " =".contains($0) }.first)
        #expect(mistake("\(theirs) a.mkv") == "unknown option '\(first)'; use \(ours)")
        let words = ours.split(separator: " ").prefix { $0 != "or" && $0 != "with" }.map(String.init)
        let command = words.map { $0.hasSuffix(",") ? String($0.dropLast()) : $0 }
        // The format and the size are for a file of pictures.
        let file = ["--pixel-format", "--scale"].contains(command[0]) ? ["--output", "a.yuv"] : []
        #expect(throws: Never.self) { try Camplay.parse(command + file + ["a.mkv"]) }
    }

    @Test(
        "are answered with the SOURCE that says the same",
        arguments: [
            ("--host 10.0.0.2 --port 9000", "tcp://10.0.0.2:9000"),
            ("--host 10.0.0.2", "tcp://10.0.0.2:9982"),
            ("--host ::1", "'tcp://[::1]:9982'"), ("--connect camera:9000", "tcp://camera:9000"),
            ("--listen 9000", "listen://9000"), ("--listen --port 9000", "listen://9000"),
            ("-i tcp://camera:9982", "tcp://camera:9982 without an option"),
            ("--port 9000", "tcp://HOST:9000, or listen://9000 to wait for a sender"),
        ])
    func source(theirs: String, ours: String) throws {
        #expect(try #require(mistake(theirs)).hasSuffix("; name the SOURCE \(ours)"))
    }

    @Test(
        "are answered with a key of the window, or that the option is not needed",
        arguments: [
            ("--fullscreen", "press F in the window"), ("-fs", "press F in the window"),
            ("-f a.mkv", "press F in the window"), ("-stats", "press S in the window"),
            ("-ss 0", "leave it out: a file plays from its beginning"),
            ("-autoexit", "leave it out at the end of a file; for tcp:// and listen:// use --once"),
            ("-fflags nobuffer", "leave it out: camplay shows the newest picture of a live stream at once"),
        ])
    func advice(theirs: String, advice: String) throws {
        #expect(try #require(mistake("\(theirs) a.mkv")).hasSuffix("; \(advice)"))
    }

    @Test("none is an option of camplay")
    func disjoint() {
        #expect(ForeignOption.playing.names.isDisjoint(with: CommandOptions(of: Camplay.self).names))
        #expect(mistake("--fps 30 --save a.h264 -- --port") == nil)
    }
}
