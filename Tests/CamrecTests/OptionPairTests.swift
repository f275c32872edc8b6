import Encoder
import CamCommandLine
import Testing

@testable import camrec

/// Every pair of options works, is refused, or warns: no request is silently ignored.
@Suite struct OptionPairTests {
    enum Verdict { case works, refused, warns }

    /// An option with a value, and the other options it needs.
    private struct Sample {
        let own: String
        let needs: [String]

        init(_ own: String, needs: String...) { (self.own, self.needs) = (own, needs) }
    }

    /// How each option is given; if values change what a pair means, once for each value, with a name after a
    /// colon. An option that is missing here fails the table's test.
    private static let samples: [String: Sample] = [
        "device": Sample("--device=/dev/video0"), "device:test": Sample("--device=test"),
        "device:file": Sample("--device=a.y4m"),
        "size": Sample("--size=640x480"), "size:large": Sample("--size=3840x2160"),
        "fps": Sample("--fps=30"), "fps:high": Sample("--fps=240"),
        "format": Sample("--format=nv12"), "format:auto": Sample("--format=auto"),
        "format:h264": Sample("--format=h264"), "format:planar": Sample("--format=YU12"),
        "input": Sample("--input=0"), "standard": Sample("--standard=PAL"),
        "pace": Sample("--pace", needs: "--device=test"),
        "pace:no": Sample("--no-pace", needs: "--device=test"),
        "wait": Sample("--wait=1s"), "wait:not": Sample("--wait=0"),
        "device-timeout": Sample("--device-timeout=1s"),
        "control": Sample("--control=brightness=1"),
        "restore-controls": Sample("--restore-controls", needs: "--control=brightness=1"),
        "crop": Sample("--crop=160x120+2+4"), "rotate": Sample("--rotate=90"), "flip": Sample("--flip=h"),
        "scale": Sample("--scale=160x120"), "scale:large": Sample("--scale=3840x2160"),
        "privacy": Sample("--privacy=64x64+8+8"), "privacy-mask": Sample("--privacy-mask=m.pgm"),
        "privacy-fill": Sample("--privacy-fill=mosaic", needs: "--privacy=64x64+8+8"),
        "overlay": Sample("--overlay=%F %T"),
        "overlay-place": Sample("--overlay-place=bottom", needs: "--overlay=%T"),
        "overlay-size": Sample("--overlay-size=40", needs: "--overlay=%T"),
        "overlay-box": Sample("--overlay-box=light", needs: "--overlay=%T"),
        "overlay-font": Sample("--overlay-font=a.ttf", needs: "--overlay=%T"),
        "audio": Sample("--audio", needs: "x.mkv"),
        "audio-device": Sample("--audio-device=hw:1", needs: "x.mkv"),
        "audio-device:none": Sample("--audio-device=none"),
        "audio-codec": Sample("--audio-codec=opus", needs: "--audio", "x.mkv"),
        "audio-codec:flac": Sample("--audio-codec=flac", needs: "--audio", "x.mkv"),
        "audio-bitrate": Sample("--audio-bitrate=32k", needs: "--audio", "x.mkv"),
        "frames": Sample("--frames=9"), "duration": Sample("--duration=9s"),
        "serve-on": Sample("--serve-on", needs: "--duration=9s", "--listen=9982"),
        "every": Sample("--every=10s"), "playback-fps": Sample("--playback-fps=25", needs: "--every=10s"),
        "encoder": Sample("--encoder=software"), "encoder:vaapi": Sample("--encoder=vaapi"),
        "encoder:auto": Sample("--encoder=auto"),
        "render-node": Sample("--render-node=/dev/dri/renderD128"),
        "low-power": Sample("--low-power=on"), "low-power:off": Sample("--low-power=off"),
        "upload": Sample("--upload=put"), "upload:map": Sample("--upload=map"),
        "jpeg": Sample("--jpeg=gpu"), "jpeg:cpu": Sample("--jpeg=cpu"),
        "zero-copy": Sample("--zero-copy=on"), "zero-copy:off": Sample("--zero-copy=off"),
        "bitrate": Sample("--bitrate=2M"), "max-bitrate": Sample("--max-bitrate=4M"),
        "max-bitrate:same": Sample("--max-bitrate=2M"), "max-bitrate:low": Sample("--max-bitrate=1M"),
        "rate-window": Sample("--rate-window=2s"), "qp": Sample("--qp=24"), "quality": Sample("--quality=24"),
        "rate-control": Sample("--rate-control=vbr"), "rate-control:auto": Sample("--rate-control=auto"),
        "rate-control:cbr": Sample("--rate-control=cbr"), "rate-control:cqp": Sample("--rate-control=cqp"),
        "rate-control:icq": Sample("--rate-control=icq"), "rate-control:qvbr": Sample("--rate-control=qvbr"),
        "codec": Sample("--codec=h264"), "codec:hevc": Sample("--codec=hevc"),
        "keyframe-interval": Sample("--keyframe-interval=2s"),
        "profile": Sample("--profile=high"), "profile:main": Sample("--profile=main"),
        "profile:baseline": Sample("--profile=constrained-baseline"),
        "level": Sample("--level=4.1"), "level:low": Sample("--level=1"), "level:h264": Sample("--level=1.2"),
        "level:auto": Sample("--level=auto"),
        "entropy": Sample("--entropy=cabac"), "entropy:cavlc": Sample("--entropy=cavlc"),
        "bframes": Sample("--bframes=2"), "bframes:none": Sample("--bframes=0"),
        "max-frame-delay": Sample("--max-frame-delay=4"),
        "max-frame-delay:short": Sample("--max-frame-delay=1"),
        "latency": Sample("--latency=quality"), "color-range": Sample("--color-range=full"),
        "color-matrix": Sample("--color-matrix=bt709"), "slices": Sample("--slices=4"),
        "stamp": Sample("--stamp"),
        "segment": Sample("--segment=10m"), "segment:bytes": Sample("--segment=500M"),
        "segment:frames": Sample("--segment=1000f"),
        "align": Sample("--align", needs: "--segment=10m"),
        "utc": Sample("--utc", needs: "--segment=10m"), "keep": Sample("--keep=7d", needs: "--segment=10m"),
        "keep:bytes": Sample("--keep=100G", needs: "--segment=10m"),
        "min-free": Sample("--min-free=1G", needs: "--segment=10m"), "sync": Sample("--sync=5s"),
        "on-segment": Sample("--on-segment=/bin/true"),
        "on-event": Sample("--on-event=/bin/true"),
        "ring": Sample("--ring=1m"), "post": Sample("--post=1m", needs: "--ring=1m"),
        "on-motion": Sample("--on-motion", needs: "--ring=1m"),
        "motion-sensitivity": Sample("--motion-sensitivity=7", needs: "--on-motion", "--ring=1m"),
        "motion-mask": Sample("--motion-mask=m.pgm", needs: "--on-motion", "--ring=1m"),
        "listen": Sample("--listen=9982"), "listen:open": Sample("--listen=0.0.0.0:9982"),
        "listen:socket": Sample("--listen=unix:/tmp/x,mode=660"),
        "on-demand": Sample("--on-demand", needs: "--listen=0.0.0.0:9982"),
        "linger": Sample("--linger=1m", needs: "--on-demand", "--listen=0.0.0.0:9982"),
        "stream-format": Sample("--stream-format=ts", needs: "--listen=0.0.0.0:9982"),
        "ca-file": Sample("--ca-file=a.pem", needs: "rtsps://host/cam"),
        "max-clients": Sample("--max-clients=4", needs: "--listen=0.0.0.0:9982"),
        "max-clients:one": Sample("--max-clients=1", needs: "--listen=0.0.0.0:9982"),
        "max-clients-per-address": Sample("--max-clients-per-address=2", needs: "--listen=0.0.0.0:9982"),
        "client-buffer": Sample("--client-buffer=1s", needs: "--listen=0.0.0.0:9982"),
        "client-timeout": Sample("--client-timeout=9s", needs: "--listen=0.0.0.0:9982"),
        "control-socket": Sample("--control-socket=/tmp/y"),
        "overwrite": Sample("--overwrite"), "report": Sample("--report=r.json"),
        "report:stream": Sample("--report=-"), "timestamps": Sample("--timestamps=t.txt"),
        "timestamps:stream": Sample("--timestamps=-"), "quiet": Sample("--quiet"),
        "verbose": Sample("--verbose"),
        "output": Sample("a.h264"), "output:hevc": Sample("a.h265"), "output:container": Sample("a.mkv"),
        "output:dated": Sample("%H.h264"), "output:stream": Sample("-"),
        "output:sent": Sample("tcp://host:1"), "output:published": Sample("rtsp://host/cam"),
    ]

    private static let cameraAlone = [
        "input", "standard", "control", "restore-controls",
    ]
    private static let hardware = [
        "render-node", "low-power", "low-power:off", "upload", "upload:map", "jpeg",
        "zero-copy",
    ]
    private static let rates = [
        "bitrate", "max-bitrate", "max-bitrate:same", "max-bitrate:low", "rate-window",
    ]
    /// Options that change the pictures.
    private static let picture = [
        "crop", "rotate", "flip", "scale", "scale:large", "overlay", "overlay-place", "overlay-size",
        "overlay-box", "overlay-font", "privacy", "privacy-mask", "privacy-fill",
    ]
    private static let segments =
        [
            "segment", "segment:bytes", "segment:frames", "align", "utc", "keep", "keep:bytes", "min-free",
            "ring", "post",
        ] + motion
    private static let motion = ["on-motion", "motion-sensitivity", "motion-mask"]
    private static let sound = ["audio", "audio-device", "audio-codec", "audio-codec:flac", "audio-bitrate"]
    /// Options that change how a stream is encoded.
    private static let coding =
        rates + [
            "qp", "quality", "rate-control", "rate-control:cbr", "rate-control:cqp", "rate-control:icq",
            "rate-control:qvbr", "keyframe-interval", "profile", "profile:main", "profile:baseline", "level",
            "level:low", "level:h264", "entropy", "entropy:cavlc", "bframes", "max-frame-delay",
            "max-frame-delay:short", "latency", "color-range", "color-matrix", "slices",
        ]

    /// The pairs that do not simply work: each of the first with each of the second.
    private static let exceptions: [(first: [String], second: [String], verdict: Verdict)] = [
        (["quiet"], ["verbose"], .refused),
        // The clock has no size, and other pictures no time on it.
        (["align"], ["segment:bytes", "segment:frames", "device:file", "pace:no"], .refused),
        // Sources that are not cameras.
        (["device:test", "device:file", "pace", "pace:no"], cameraAlone, .refused),
        (["pace", "pace:no"], ["device"], .warns),
        (["device:test", "pace", "pace:no"], ["format:h264"], .refused),
        (["device:file"], ["format", "format:h264", "stamp"], .refused),
        // The camera codes.
        (["format:h264"], hardware + ["encoder", "encoder:vaapi", "codec:hevc", "output:hevc"], .refused),
        (["format:h264"], picture + motion + ["jpeg:cpu", "zero-copy:off"], .refused),
        // A copy is made of each picture.
        (["zero-copy"], picture + motion + ["device:test", "device:file", "pace", "pace:no"], .refused),
        (["zero-copy"], ["format:planar"], .refused),
        (["format:h264"], coding, .warns),
        // Hardware and software.
        (["encoder"], hardware, .refused),
        // Ways to bound the rate.
        (["qp"], rates + ["quality"], .refused), (["quality"], ["rate-window"], .refused),
        (["bitrate"], ["max-bitrate:low"], .refused),
        (["rate-control", "rate-control:cbr"], ["qp", "quality"], .refused),
        (["rate-control:cbr"], ["max-bitrate", "max-bitrate:same", "max-bitrate:low"], .refused),
        (["rate-control:cqp"], rates + ["quality"], .refused),
        (["rate-control:icq"], rates + ["qp"], .refused), (["rate-control:qvbr"], ["qp"], .refused),
        // What a standard, a profile or a level lacks.
        (
            ["codec:hevc", "output:hevc"], ["profile", "profile:baseline", "entropy:cavlc", "level:h264"],
            .refused
        ),
        (["profile:baseline"], ["entropy", "bframes"], .refused),
        (["max-frame-delay:short"], ["bframes"], .refused),
        (["level:low", "level:h264"], ["size", "device:test", "pace", "pace:no", "bitrate"], .refused),
        (["level:low", "level:h264"], ["max-bitrate", "max-bitrate:same", "max-bitrate:low"], .refused),
        (["level", "level:low", "level:h264"], ["size:large", "scale:large"], .refused),
        // A raw stream's name says its codec.
        (["codec:hevc"], ["output", "output:dated"], .refused), (["codec"], ["output:hevc"], .refused),
        // Outputs that are not files.
        (
            ["output:sent", "output:published"], segments + ["sync", "on-segment", "serve-on"],
            .refused
        ),
        (["output:stream"], segments + ["sync", "on-segment"], .refused),
        // Browsers reject B frames.
        (["output:published", "ca-file"], ["bframes"], .refused),
        (["output:stream"], ["report:stream", "timestamps:stream"], .refused),
        (["report:stream"], ["timestamps:stream"], .refused),
        // A time lapse is a file, of pictures that can be chosen.
        (
            ["every", "playback-fps"],
            [
                "format:h264", "ring", "post", "serve-on", "listen", "listen:open", "listen:socket",
                "stream-format",
                "ca-file", "max-clients", "max-clients:one", "max-clients-per-address", "client-buffer",
                "client-timeout", "output:sent", "output:published",
            ] + motion, .refused
        ),
        // Sound has the time of the pictures, and not every stream has a place for every codec.
        (sound, ["device:file", "pace:no", "every", "playback-fps"], .refused),
        (["audio-codec:flac"], ["audio-bitrate", "output:published", "ca-file", "stream-format"], .refused),
        // A camera that is off records nothing, and only cameras and their likes are ever on.
        (
            ["on-demand", "linger"],
            segments + sound + [
                "device:file", "pace:no", "sync", "on-segment", "serve-on", "every", "playback-fps",
                "ca-file",
                "output", "output:container", "output:dated", "output:hevc", "output:sent",
                "output:published", "output:stream",
            ], .refused
        ),
        // Whom a limit per address affects.
        (["max-clients-per-address"], ["listen", "max-clients:one"], .warns),
        (["max-clients-per-address"], ["listen:socket"], .refused),
    ]

    /// The option of a sample's name.
    private static func option(_ name: String) -> String { String(name.prefix { $0 != ":" }) }

    private static func expected(_ first: String, _ second: String) -> Verdict {
        exceptions.first { exception in
            exception.first.contains(first) && exception.second.contains(second)
                || exception.first.contains(second) && exception.second.contains(first)
        }?.verdict ?? .works
    }

    /// The command line for some samples. What both need is given once, and what one provides is not
    /// repeated.
    private static func arguments(_ names: String...) -> [String] {
        let chosen = names.compactMap { samples[$0] }
        var arguments = chosen.map(\.own)
        for need in chosen.flatMap(\.needs) where !arguments.contains(where: { isSame($0, need) }) {
            arguments.append(need)
        }
        // A date in the output's name is one way to meet a requirement, and --on-demand excludes files.
        if names.contains(where: { ["output", "on-demand", "linger"].contains(option($0)) }) {
            return arguments
        }
        return arguments + [names.contains("codec:hevc") ? "a.h265" : "a.h264"]
    }

    private static func isSame(_ first: String, _ second: String) -> Bool {
        first.prefix { $0 != "=" } == second.prefix { $0 != "=" }
    }

    private func refusal(_ arguments: [String]) -> String? {
        do {
            _ = try RecordCommand.parse(arguments)
            return nil
        } catch { return RecordCommand.message(for: error) }
    }

    private func verdict(_ arguments: [String]) -> Verdict {
        guard let command = try? RecordCommand.parse(arguments) else { return .refused }
        return command.warnings.isEmpty ? .works : .warns
    }

    @Test("the table has every option of recording")
    func tableIsWhole() {
        let options = Set(RecordCommand.longOptions).subtracting([
            "help", "version", "settings", "codec-of-settings", "no-pace",
        ])
        #expect(options == Set(Self.samples.keys.map(Self.option)))
        let names = Set(Self.exceptions.flatMap { $0.first + $0.second })
        #expect(names.isSubset(of: Self.samples.keys))
    }

    @Test("each option works by itself, with what it needs")
    func alone() {
        for name in Self.samples.keys { #expect(verdict(Self.arguments(name)) == .works, "\(name)") }
    }

    @Test("each pair does what the table says", .enabled(if: parsesQuickly, "takes minutes in a debug build"))
    func pairs() {
        let names = Self.samples.keys.sorted()
        for (index, first) in names.enumerated() {
            for second in names[(index + 1)...] { check(first, second) }
        }
    }

    /// Debug builds, which skip `pairs`, check this one, too.
    @Test("the camera's own H.264 gets capture times") func stampWithPassThrough() {
        check("format:h264", "stamp")
    }

    private func check(_ first: String, _ second: String) {
        guard Self.option(first) != Self.option(second) else { return }
        let arguments = Self.arguments(first, second)
        let expected = Self.expected(first, second)
        #expect(verdict(arguments) == expected, "\(arguments.joined(separator: " "))")
        guard expected == .refused, let reason = refusal(arguments) else { return }
        #expect(reason.contains("; "), "no next step: \(reason)")
    }

    @Test(
        "refuses an option without what it needs, and says what that is",
        arguments: [
            (["--max-clients=4", "a.h264"], "--max-clients needs --listen"),
            (["--linger=4s", "--listen=1"], "--linger needs --on-demand"),
            (["--on-demand", "a.h264"], "--on-demand needs --listen"),
            (["--on-demand", "--listen=1", "a.h264"], "--on-demand is for --listen alone; leave out a.h264"),
            (["--on-demand", "--listen=1", "--device=a.y4m"], "--on-demand needs a camera"),
            (
                ["--on-demand", "--listen=1", "--stream-format=ts", "--audio"],
                "--on-demand turns off no microphone"
            ),
            (["--max-clients=4", "tcp://host:1"], "--max-clients needs --listen"),
            (["--client-buffer=1s", "a.h264"], "--client-buffer needs --listen or an output tcp://"),
            (["--client-timeout=1s", "a.h264"], "--client-timeout needs --listen or an output tcp://"),
            (["--bframes=2", "rtsp://host/cam"], "which browsers reject; leave --bframes out"),
            (["rtsp://host/cam", "rtsp://a:b@host:554/cam"], "rtsp://host/cam is given twice"),
            (
                ["srt://host:1?latency=5&streamid=a", "srt://host:1?streamid=a"],
                "srt://host:1?streamid=a is given twice"
            ),
            (["--ca-file=a.pem", "rtsp://host/cam"], "--ca-file needs an output rtsps://"),
            (["--stream-format=ts", "a.h264"], "--stream-format needs the output -"),
            (["--stream-format=ts", "rtsp://host/cam"], "--stream-format needs the output -"),
            (["--sync=5s", "rtsp://host/cam"], "--sync needs an output that is a file"),
            (["--sync=5s", "-"], "--sync needs an output that is a file"),
            (["--sync=5s", "--listen=1"], "--sync needs an output that is a file"),
            (["--on-segment=true", "-"], "--on-segment needs an output that is a file"),
            (["--on-segment=true", "--listen=1"], "--on-segment needs an output that is a file"),
            (["--on-event=true,motion", "--ring=1s", "a.h264"], "--on-event with motion needs --on-motion"),
            (["--on-event=true,trigger", "a.h264"], "--on-event with trigger needs --ring"),
            (
                ["--on-event=true,camera", "--device=a.y4m", "a.h264"],
                "--on-event with camera needs a camera"
            ),
            (["--on-event=,disk", "a.h264"], "expected a program's path"),
            (["--serve-on", "--listen=1", "a.h264"], "--serve-on needs --frames or --duration"),
            (["--serve-on", "--frames=9", "a.h264"], "--serve-on needs --listen or an output that connects"),
            (["--serve-on", "--frames=9", "--listen=1"], "--serve-on needs an output that is a file"),
            (["--rate-window=2s", "--quality=24", "a.h264"], "add --max-bitrate"),
            (["--device=test", "--control=a=1", "a.h264"], "only cameras have controls"),
            (["--device=test", "--standard=PAL", "a.h264"], "only cameras have inputs and standards"),
            (["--utc", "a.h264"], "a date in its name"), (["--post=1s", "a.h264"], "--post needs --ring"),
            (["--keep=3", "a.h264"], "need --segment or --ring"),
            (["--playback-fps=25", "a.h264"], "--playback-fps needs --every"),
            (["--every=1s", "--format=h264", "a.h264"], "whose frames depend on each other"),
            (["--every=1s", "a.h264", "tcp://host:1"], "--every is for files"),
            (["--every=1s", "--ring=1m", "a.h264"], "--every excludes --ring"),
            (["--on-motion", "a.h264"], "--on-motion needs --ring"),
            (["--motion-mask=m.pgm", "--ring=9s", "a.h264"], "need --on-motion"),
            (["--motion-sensitivity=7", "a.h264"], "need --on-motion"),
            (["--on-motion", "--ring=9s", "--motion-sensitivity=11", "a.h264"], "11"),
            (["--on-motion", "--ring=9s", "--format=h264", "a.h264"], "what the camera has coded"),
            (["--audio", "a.h264"], "--audio needs an output that can contain sound"),
            (["--audio", "--listen=1", "a.h264"], "--audio needs an output that can contain sound"),
            (["--audio-codec=opus", "a.mkv"], "need --audio"),
            (["--audio-bitrate=32k", "a.mkv"], "need --audio"),
            (["--audio", "--audio-bitrate=8k", "a.mkv"], "expected 16k to 512k"),
            (["--audio", "--audio-codec=flac", "--audio-bitrate=32k", "a.mkv"], "no effect on flac"),
            (["--audio", "--audio-codec=flac", "a.ts"], "a.ts: flac goes only into .mkv and .mp4"),
            (["--audio", "--audio-codec=flac", "srt://host:1", "a.mkv"], "flac goes only into"),
            (["--audio", "--every=1s", "a.mkv"], "does not fit a time lapse"),
            (["--audio", "--device=a.y4m", "a.mkv"], "come as they are captured"),
            (["--stamp", "--device=a.y4m", "a.h264"], "have no capture times; leave out --stamp"),
            (["--frames=+5", "a.h264"], "expected a whole number"),
            (["--size=+640x480", "a.h264"], "640x480"), (["--rotate=+90", "a.h264"], "expected 90"),
            (["--align", "a.h264"], "--align needs --segment with a time"),
            (["--align", "--segment=7m", "a.h264"], "--segment that divides a day, such as 10m or 1h"),
            (["--align", "--segment=500ms", "a.h264"], "--segment that divides a day"),
            (["--align", "--segment=48h", "a.h264"], "--segment that divides a day"),
            (["--align", "--segment=1m", "--device=a.y4m", "a.h264"], "--align needs a camera"),
            (["--restore-controls", "a.h264"], "without --control"),
            (["--format=h264", "a.h265"], "cannot be written as H.265"),
            (["--format=h264", "--render-node=/dev/dri/renderD128", "a.h264"], "leave out --render-node"),
            (["--format=h264", "--low-power=on", "a.h264"], "leave out --low-power"),
            (["--format=h264", "--upload=map", "a.h264"], "leave out --upload"),
            (["--format=h264", "--jpeg=gpu", "a.h264"], "leave out --jpeg"),
            (["--encoder=software", "--jpeg=gpu", "a.h264"], "--jpeg gpu"),
            (["--format=h264", "--zero-copy=off", "a.h264"], "leave out --zero-copy"),
            (["--encoder=software", "--zero-copy=on", "a.h264"], "--zero-copy on"),
            (["--zero-copy=on", "--overlay=%T", "a.h264"], "--overlay needs a copy of each picture"),
            (["--zero-copy=on", "--privacy=8x8+0+0", "a.h264"], "--privacy needs a copy of each picture"),
            (["--format=h264", "--privacy-mask=m.pgm", "a.h264"], "leave out --privacy-mask"),
            (["--privacy-fill=mosaic", "a.h264"], "--privacy-fill needs --privacy"),
            (["--privacy=8x8+0", "a.h264"], "expected sizes and places in pixels"),
            (
                ["--device=test", "--size=64x64", "--privacy=64x64+1+0", "a.h264"],
                "the camera's picture has only 64x64"
            ),
            (["--zero-copy=on", "--device=test", "a.h264"], "--zero-copy on is for cameras"),
            (["--zero-copy=on", "--format=yu12", "a.h264"], "--zero-copy on needs NV12"),
            (["--listen=unix:/tmp/x", "--max-clients-per-address=2", "a.h264"], "have no address"),
            (["--listen=yes", "a.h264"], "--listen cannot be 'yes': expected a port"),
            (["--listen=0x50", "a.h264"], "--listen cannot be '0x50': expected a port"),
            (["--listen=unix:sk,mdoe=660"], "write unix:sk,mode=660"),
            (["--listen=unix:@abs"], "write unix:./@abs"),
            (["--control-socket=@abs", "a.h264"], "write ./@abs"),
            (["--control-socket=unix:/x", "a.h264"], "a path alone"),
            (["--control-socket=/x,mdoe=660", "a.h264"], "write /x,mode=660"),
            (["--control-socket=/x,mode=060", "a.h264"], "must let the owner write"),
            (["--device=test", "--format=h264", "a.h264"], "the test source has no H264; try nv12"),
            (["--device=a.y4m", "--format=mjpeg", "a.h264"], "a .y4m file has no MJPG; leave out --format"),
            (["%Q.h264"], "%Q is not a conversion of strftime; write %% for a percent sign"),
            (["--segment=1m", "100%.h264"], "%. is not a conversion"),
            (["%D.h264"], "becomes"), (["--segment=1m", "a%x.h264"], "write %F for the date"),
            (["--report=r-%D.json", "a.h264"], "write %F for the date"),
            (["--timestamps=%x.txt", "a.h264"], "write %F for the date"),
        ])
    func needs(arguments: [String], reason: String) throws {
        let error = try #require(throws: (any Error).self) { try RecordCommand.parse(arguments) }
        let message = RecordCommand.message(for: error)
        #expect(message.contains(reason) && (message.contains("; ") || message.contains(": expected ")))
    }

    @Test(
        "accepts it with what it needs",
        arguments: [
            ["--client-buffer=1s", "--client-timeout=9s", "tcp://host:1"], ["--sync=5s", "-", "a.h264"],
            ["--rate-window=2s", "--quality=24", "--max-bitrate=4M", "a.h264"], ["--utc", "%H.h264"],
            ["--utc", "--report=%F.json", "a.h264"],
            ["--rate-control=cbr", "--bitrate=2M", "--max-bitrate=2M", "a.h264"],
            ["--serve-on", "--frames=9", "rtsp://host/cam", "a.h264"],
            ["--serve-on", "--duration=9s", "--listen=1", "-"], ["--on-segment=true", "a.h264", "-"],
            ["--on-event=true,camera,disk", "-"], ["--on-event=true,recording", "--listen=1"],
            ["--on-event=true,motion,trigger", "--on-motion", "--ring=1s", "a.mkv"],
            ["--overwrite", "-"], ["--device=test", "--wait=1s", "--device-timeout=1s", "a.h264"],
            ["%F-%f.h264"], ["100%%.h264"],
            ["--level=1", "--fps=30", "a.h264"], ["--max-clients-per-address=2", "--listen=[::]", "a.h264"],
            ["--overwrite", "--segment=1s", "--report=r", "a.h264"],
            ["--no-pace", "--device=a.y4m", "a.h264"], ["--align", "--segment=24h", "a.h264"],
            ["--align", "--segment=90s", "--utc", "--device=test", "a.h264"],
        ])
    func sound(arguments: [String]) { #expect(verdict(arguments) == .works) }

    @Test(
        "warns of options without effect",
        arguments: [
            ["--on-event=/nowhere/tell", "a.h264"], ["--on-event=true,film", "a.h264"],
            ["--on-segment=/nowhere/upload", "a.h264"], ["--on-segment=/bin/cp -a", "a.h264"],
            ["--on-segment=no-such-program", "a.h264"], ["--on-segment=/", "a.h264"],
            ["--no-pace", "a.h264"], ["--overwrite", "--verbose", "-"],
            ["--overwrite", "--verbose", "--listen=1"],
            ["--max-clients-per-address=2", "--listen=localhost:1"],
            ["--max-clients-per-address=2", "--listen=[::1]:1"],
            ["--max-clients-per-address=16", "--listen=0.0.0.0:1"],
            ["--format=h264", "--bitrate=2M", "a.h264"],
        ])
    func useless(arguments: [String]) { #expect(verdict(arguments) == .warns) }

    @Test(
        "refuses what no encoder can do before opening a device",
        arguments: [
            (
                ["--entropy=cabac", "--profile=constrained-baseline", "a.h264"],
                "CABAC needs profile main or high"
            ),
            (["--profile=high", "a.h265"], "H.265 has no profile high"),
            (["--entropy=cavlc", "a.h265"], "H.265 has no CAVLC"),
            (["--level=1.2", "a.h265"], "H.265 has no level 1.2"),
            (
                ["--bframes=2", "--profile=constrained-baseline", "a.h264"],
                "B frames need profile main or high"
            ),
            (["--bframes=3", "--max-frame-delay=1", "a.h264"], "raise --max-frame-delay"),
            (["--level=1", "--bitrate=5M", "a.h264"], "level 1 allows"),
            (["--format=h264", "--level=1", "--bitrate=5M", "a.h264"], "level 1 allows"),
            (["--level=3.1", "--size=1920x1080", "a.h264"], "level 3.1 is too low for 1920x1080; use 4"),
            (
                ["--level=3.1", "--size=1280x720", "--fps=60", "a.h264"],
                "1280x720 at 60 frames a second; use 3.2"
            ),
            (["--level=1", "--device=test", "a.h265"], "1280x720 at 30 frames a second; use 3.1"),
            (["--size=16384x16384", "a.h264"], "H.264 has no level for 16384x16384; lower --size"),
        ])
    func contradictions(arguments: [String], reason: String) throws {
        let error = try #require(throws: (any Error).self) { try RecordCommand.parse(arguments) }
        let message = RecordCommand.message(for: error)
        #expect(message.contains(reason) && (message.contains("; ") || message.contains(": expected ")))
    }
}
