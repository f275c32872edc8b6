import Bitstream
import Glibc
import Testing

@testable import camrec

/// What an OUTPUT argument may be called.
@Suite struct OutputNameTests {
    @Test(
        "accepts names of video files",
        arguments: [
            "a.h264", "a.264", "a.AVC", "a.h265", "b/a.hevc", "a.mkv", "a.mp4", "a.ts", "%H%M.h264", "-",
            "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/null", "tcp://host:9982", "rtsp://host/cam",
            "rtsp://user:password@[::1]:8554/cam", "srt://host:8890?streamid=publish:cam",
            "udp://239.0.0.1:5000",
        ])
    func taken(name: String) { #expect(OutputName(name).refusal(codec: nil) == nil) }

    @Test(
        "refuses other names unless --codec says what they are",
        arguments: ["shot.jpg", "x.avcc", "x.bin", "out", "./stop", "a.d/out", "%H%M", "a.%Y"])
    func others(name: String) throws {
        let reason = try #require(OutputName(name).refusal(codec: nil))
        #expect(reason.hasPrefix("'\(name)': "))
        #expect(reason.hasSuffix("use .h264, .h265, .mkv, .mp4 or .ts, or add --codec h264 for a raw stream"))
        #expect(OutputName(name).refusal(codec: .h264) == nil)
    }

    @Test("refuses a container that camrec does not write, even with --codec")
    func foreign() {
        #expect(
            OutputName("a.AVI").refusal(codec: .h264)?.hasPrefix("camrec does not write .avi; use .mkv")
                == true)
    }

    @Test(
        "answers a URL of another scheme with what camrec supports",
        arguments: ["http://host/x", "RTMP://host/app", "rist://host:1"])
    func schemes(url: String) throws {
        for codec in [nil, Codec.h264] {
            let reason = try #require(OutputName(url).refusal(codec: codec))
            #expect(reason.contains("tcp://HOST:PORT") && reason.contains("--listen"))
        }
    }

    @Test(
        "an address that is none is not repeated: it may contain a password",
        arguments: [
            "rtsp://a:secret@host", "srt://host?passphrase=secret", "rtsps://a:secret@host",
            "udp://secret", "srt:/host:1?passphrase=secretsecret", "srt:host:1?passphrase=secret",
            "rtsp:/a:secret@host/cam", "rtsps:host/cam?token=secret", "tcp:a:secret@host",
            "clip?token=secret", "a:secret@b",
        ])
    func secrets(url: String) throws {
        let reason = try #require(OutputName(url).refusal(codec: nil))
        #expect(!reason.contains("secret") && reason.contains("; use "))
    }

    @Test("an address needs a port, and a file: URL is a path")
    func addresses() {
        #expect(OutputName("tcp://host:0").refusal(codec: nil)?.contains("use tcp://HOST:PORT") == true)
        #expect(OutputName("file:///a.h264").refusal(codec: nil)?.contains("path alone") == true)
        #expect(OutputName("file://a:secret@host/x").refusal(codec: nil)?.contains("secret") == false)
    }

    @Test("a named pipe may have any name")
    func pipe() throws {
        let path = "/tmp/camrec-name-\(getpid())"
        defer { unlink(path) }
        try #require(mkfifo(path, 0o600) == 0)
        #expect(OutputName(path).refusal(codec: nil) == nil)
    }

    @Test(
        "refuses a raw stream's name that is for another codec than --codec",
        arguments: ["a.h264", "b/a.264", "a.AVC", "%H.h264"], ["a.h265", "a.265", "b/a.hevc"])
    func misnamed(h264: String, hevc: String) throws {
        for (name, codec) in [(h264, "hevc"), (hevc, "h264")] {
            let error = #expect(throws: (any Error).self) {
                try RecordCommand.parse(["out.mkv", name, "--codec", codec])
            }
            let reason = RecordCommand.message(for: try #require(error))
            #expect(reason.contains("'\(name)' is a name for ") && reason.contains("; rename it"))
        }
        let fits = try RecordCommand.parse([h264, "a.mkv", "-", "--codec", "h264"])
        #expect(fits.warnings.isEmpty)
        #expect(throws: Never.self) { try RecordCommand.parse(["rtsp://host/a.h264", "--codec", "hevc"]) }
    }

    @Test("names every output that is for another codec, on the command line and in a settings file")
    func allMisnamed() throws {
        let error = #expect(throws: (any Error).self) {
            try RecordCommand.parse(["a.h264", "b.h265", "c.avc", "--codec", "hevc"])
        }
        #expect(
            RecordCommand.message(for: try #require(error)).contains(
                "'a.h264', 'c.avc' are names for H.264, but --codec requests H.265; rename them or leave out --codec"
            ))
        let command = try RecordCommand.parse(
            ["--output=a.h264", "--output=b.h265", "--output=c.264", "--codec=hevc"])
        #expect(
            command.warnings == [
                "a.h264, c.264 receive H.265, as --codec requires, which does not match their names; rename them"
            ])
    }

    @Test("a settings file's name for another codec is a warning, so that no upgrade ends a service")
    func misnamedInSettings() throws {
        let command = try RecordCommand.parse(["--output=a.h264", "--codec=hevc"])
        #expect(
            command.warnings == [
                "a.h264 receives H.265, as --codec requires, which does not match its name; rename it"
            ])
        let other = try RecordCommand.parse(["--codec=hevc", "--codec-of-settings", "b.h264"])
        #expect(
            other.warnings == [
                "b.h264 receives H.265, as --codec requires, which does not match its name; rename it"
            ])
        // The command line's name takes the place of the settings'.
        #expect(try RecordCommand.parse(["--output=a.h264", "--codec=hevc", "a.h265"]).warnings.isEmpty)
    }

    @Test("applies the same rules to names in settings files")
    func record() throws {
        #expect(throws: (any Error).self) { try RecordCommand.parse(["x.bin"]) }
        #expect(throws: (any Error).self) { try RecordCommand.parse(["--output=x.bin"]) }
        _ = try RecordCommand.parse(["x.bin", "--codec", "h264"])
    }
}
