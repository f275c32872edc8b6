import CamCommandLine
import Testing

@testable import camrec

/// Options that people know from other programs.
@Suite struct ForeignOptionTests {
    private func mistake(_ line: String) -> String? {
        let given = CommandLineWords(line.split(separator: " ").map(String.init))
        return given.unknownOption.foreignMistake(in: given.words)
    }

    @Test(
        "are answered with the whole option of ours and the user's value",
        arguments: [
            ("--port 9000", "--listen 9000"), ("--host 0.0.0.0 --port 9000", "--listen 0.0.0.0:9000"),
            ("--host=::1", "--listen '[::1]:9982'"), ("--bind 127.0.0.1", "--listen 127.0.0.1:9982"),
            ("--width 1280 --height 720", "--size 1280x720"),
            ("--height=720 --width=1280", "--size 1280x720"),
            ("--resolution 1920*1080", "--size 1920x1080"), ("--resolution 720p", "--size 1280x720"),
            ("-video_size 640x480", "--size 640x480"), ("-s hd1080", "--size 1920x1080"),
            ("--framerate 25", "--fps 25"), ("-r 30000/1001", "--fps 30000/1001"),
            ("--gop 50", "--keyframe-interval 50"), ("--intra 30", "--keyframe-interval 30"),
            ("-g 25", "--keyframe-interval 25"), ("--crf 23", "--quality 23"), ("-crf 0", "--quality 1"),
            ("--preset veryfast", "--latency realtime"), ("--preset slow", "--latency quality"),
            ("--timeout 10000", "--duration 10s"), ("--timeout 10s", "--duration 10s"),
            ("--timeout 1500", "--duration 1500ms"), ("-t 60", "--duration 60s"),
            ("-t 00:01:00", "--duration 00:01:00"),
            ("--rotation 180", "--rotate 180"), ("--segment-time 600", "--segment 600s"),
            ("-segment_time 00:10:00", "--segment 00:10:00"), ("--hflip", "--flip h"),
            ("--vflip", "--flip v"),
            ("--hflip --vflip", "--rotate 180"), ("-b:v 2M", "--bitrate 2M"),
            ("-c:v libx265", "--codec hevc"),
            ("-vcodec h264_v4l2m2m", "--codec h264"), ("-input_format mjpeg", "--format mjpeg"),
            ("-i /dev/video2", "--device /dev/video2"), ("--camera 1", "--device /dev/video1"),
            ("-frames:v 200", "--frames 200"), ("-y", "--overwrite"),
        ])
    func translated(theirs: String, ours: String) throws {
        let first = try #require(theirs.split { " =".contains($0) }.first)
        #expect(mistake("\(theirs) out.mkv") == "unknown option '\(first)'; use \(ours)")
        let words = ours.split(separator: " ").map { String($0.filter { $0 != "'" }) }
        #expect(throws: Never.self) { try RecordCommand.parse(words + ["out.mkv"]) }
    }

    @Test(
        "are answered with the form of ours if they have no value, or with the command that does it",
        arguments: [
            ("--list", "use 'camrec devices'"), ("--list-ctrls", "use 'camrec devices --controls'"),
            ("--port", "use --listen [HOST:]PORT"), ("--width 640", "use --size 640xHEIGHT"),
            ("--timeout 0", "leave it out: camrec records until Ctrl-C"), ("--rotation 0", "leave it out"),
            ("-f v4l2", "leave it out: camrec reads V4L2 devices"),
            ("-c:v mjpeg", "use --codec h264, or --codec hevc: camrec records no mjpeg"),
            ("--gop --bogus 5", "use --keyframe-interval N"),
        ])
    func advice(theirs: String, advice: String) throws {
        #expect(try #require(mistake("out.mkv \(theirs)")).hasSuffix("; \(advice)"))
    }

    @Test("several are answered together, each answer once")
    func several() {
        #expect(
            mistake("-f v4l2 -framerate 25 -i /dev/video0 -s 640x480 -video_size 640x480 out.mkv")
                == "unknown option '-f'; leave it out: camrec reads V4L2 devices; for '-framerate' use --fps 25; "
                + "for '-i' use --device /dev/video0; for '-s' use --size 640x480")
    }

    @Test(
        "of ffmpeg and ffprobe are answered by the commands that do the same",
        arguments: [
            ("remux -i a.mkv -c copy a.mp4", "'-i'; name the INPUT without an option; for '-c' leave it out"),
            ("remux -ss 10 a.mkv a.mp4", "'-ss'; use --from 10s"),
            ("inspect -show_frames -of json a.mkv", "'-show_frames'; use --json"),
            ("-pix_fmt yuv420p a.mkv", "'-pix_fmt'; leave it out: camrec encodes yuv420p"),
            ("-pix_fmt nv12 a.mkv", "'-pix_fmt'; use --format nv12"),
        ])
    func otherCommands(theirs: String, ours: String) throws {
        #expect(try #require(mistake(theirs)).hasPrefix("unknown option \(ours)"))
    }

    @Test("none is an option of ours")
    func disjoint() {
        #expect(ForeignOption.remuxing.names.isDisjoint(with: CommandOptions(of: RemuxCommand.self).names))
        #expect(
            ForeignOption.inspecting.names.isDisjoint(with: CommandOptions(of: InspectCommand.self).names))
        #expect(ForeignOption.recording.names.isDisjoint(with: RecordCommand.longOptions))
        #expect(mistake("--fps 30 --size 640x480 -- --port") == nil)
    }

    @Test("other commands translate what they have themselves")
    func commands() {
        #expect(
            mistake("snapshot --width 640 --height 480 a.jpg")
                == "unknown option '--width'; use --size 640x480")
        #expect(mistake("snapshot --port 9 a.jpg")?.contains("--listen") == false)
    }
}

/// What people call a codec, and how they write times.
@Suite struct ValueSpellingTests {
    @Test("h265 is hevc")
    func codec() throws {
        #expect(try RecordCommand.parse(["--codec", "h265", "-"]).stream.codec == .hevc)
        #expect(throws: (any Error).self) { try RecordCommand.parse(["--codec", "h266", "-"]) }
    }

    @Test(
        "times in words, in several units, and as a clock shows them",
        arguments: [
            ("1h30m", 5400), ("00:10:00", 600), ("10:00", 600), ("7days", 604_800), ("1d", 86400),
            ("2hours", 7200),
            ("90", 90), ("1m30s", 90), ("0:00:01.5", 1.5), ("1s500ms", 1.5), ("5min", 300),
        ] as [(String, Double)])
    func times(text: String, seconds: Double) throws {
        #expect(try RecordCommand.parse(["--duration", text, "-"]).length.duration?.seconds == seconds)
    }

    @Test(
        "what only looks like a time is refused",
        arguments: [
            "1h30", "30m1h", "1m1m", "00:60:00", "1:2:3:4", ":10", "10:", "1:-2", "h", "1 h", "1w", "", "0",
        ])
    func noTimes(text: String) {
        #expect(throws: (any Error).self) { try RecordCommand.parse(["--duration", text, "-"]) }
    }

    @Test("a segment has a unit, except in a settings file that may be older than this rule")
    func bareSegment() throws {
        let error = #expect(throws: (any Error).self) { try RecordCommand.parse(["--segment=600", "a.mkv"]) }
        let message = RecordCommand.message(for: try #require(error))
        #expect(message.contains("--segment 600 has no unit; write 600s for seconds, or 600f for frames"))
        let command = try RecordCommand.parse(["--segment=600", "--output=a.mkv"])
        #expect(command.segments.schedule != nil)
        #expect(throws: Never.self) { try RecordCommand.parse(["--segment=600s", "a.mkv"]) }
    }
}
