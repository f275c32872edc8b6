import CamCommandLine

/// Options of ffplay, mpv, VLC and others, as options of camplay.
extension ForeignOption {
    static let playing = Table([
        (["port", "host", "address", "ip", "connect", "p"], sender),
        (["listen", "bind"], listener), (["i", "input", "source", "url", "file"], source),
        (["fullscreen", "full-screen", "fs"], answer(fullScreen)), (["f"], format),
        (
            ["ss", "start-time", "seek"],
            { $0.time("--start", unit: "s", endless: "leave it out: a file plays from its beginning") }
        ),
        (
            ["t", "duration", "length", "stop-time", "run-time", "endpos", "end"],
            answer("use --frames N: camplay stops after N pictures")
        ),
        (["vframes", "frames:v", "n"], plain("--frames", "N")),
        (["rate", "playback-speed", "play-speed"], plain("--speed", "X")),
        (
            ["framerate", "frame-rate", "r", "demux-fps", "h264-fps", "container-fps-override"],
            plain("--fps", "F")
        ),
        (
            ["an", "no-audio", "noaudio", "nosound", "mute", "volume", "ao"],
            answer("use --no-sound, or press M in the window")
        ),
        (
            ["nodisp", "no-video", "novideo", "nowindow", "no-display", "headless", "vo", "vn", "intf"],
            answer("use --no-window")
        ),
        (
            ["autoexit", "play-and-exit", "exit", "exit-on-close"],
            answer("leave it out at the end of a file; for tcp:// and listen:// use --once")
        ),
        (["o", "out", "record-file", "stream-record", "record-stream", "dump", "dumpfile", "sout"], output),
        (["screenshot", "thumbnail"], plain("--snapshot", "FILE.png")),
        (["hwaccel", "hwdec", "avcodec-hw", "hw"], hardware),
        (
            ["vaapi-device", "hwaccel-device", "hwdec-device", "render-node", "device"],
            plain("--decoder", "/dev/dri/renderD128")
        ),
        (["c", "c:v", "codec:v", "vcodec", "demuxer-lavf-format", "demux"], codec),
        (["pix-fmt", "pixelformat"], plain("--pixel-format", "FORMAT")), (["vf"], scale),
        (["s", "video-size", "width", "height", "x", "geometry", "autofit"], answer(window)),
        (["loop", "repeat"], answer("leave it out: camplay plays a file once")),
        (
            [
                "fflags", "flags", "probesize", "analyzeduration", "sync", "framedrop", "infbuf", "untimed",
                "low-latency", "profile", "cache", "no-cache", "network-caching", "live-caching",
                "rtsp-transport",
            ],
            answer("leave it out: camplay shows the newest picture of a live stream at once")
        ),
        (["stats", "osd-level"], answer("press S in the window")),
        (["loglevel", "really-quiet", "q"], answer("use --quiet, or --verbose")),
        (["hide-banner"], answer("leave it out")), (["v"], answer("use --verbose, or --version")),
        (["V"], answer("use --version")), (["y"], answer("use --overwrite")),
    ])

    private static let fullScreen = "press F in the window"
    private static let window =
        "resize the window; --scale WxH is for the pictures of --output and --snapshot"
}

// MARK: Translations

extension ForeignOption {
    private static func sender(_ option: ForeignOption) -> String {
        if option.isGiven("listen") || option.isGiven("bind") { return listener(option) }
        let host = option.value(of: ["host", "address", "ip", "connect"])
        let port = option.value(of: ["port", "p"])
        guard let host else {
            let place = "HOST:\(port ?? "PORT")"
            return "name the SOURCE tcp://\(place), or listen://\(port ?? "PORT") to wait for a sender"
        }
        // `--connect HOST:PORT` has both.
        let hasPort = port == nil && host.split(separator: ":", omittingEmptySubsequences: false).count == 2
        return
            "name the SOURCE \(quoted("tcp://\(hasPort ? host : address(host: host, port: port ?? "9982"))"))"
    }

    private static func listener(_ option: ForeignOption) -> String {
        let port = option.value(of: ["port", "p"])
        guard let place = option.value(of: ["listen", "bind"]) else {
            return "name the SOURCE listen://\(port ?? "[HOST:]PORT")"
        }
        return "name the SOURCE \(quoted("listen://\(port.map { address(host: place, port: $0) } ?? place)"))"
    }

    private static func source(_ option: ForeignOption) -> String {
        "name the SOURCE \(option.value.map { "\(quoted($0)) " } ?? "")without an option"
    }

    /// ffplay's `-f` names a format, VLC's fills the screen.
    private static func format(_ option: ForeignOption) -> String {
        switch option.value {
        case "h264": "use --codec h264"
        case "hevc": "use --codec hevc"
        case "matroska", "mp4", "mov", "mpegts": "leave it out: camplay recognizes the format"
        default: fullScreen
        }
    }

    /// The name's suffix says what is written.
    private static func output(_ option: ForeignOption) -> String {
        guard let file = option.value else {
            return "use --save FILE.h264, or --output FILE.y4m for pictures"
        }
        let name = [".y4m": "--output", ".yuv": "--output", ".png": "--snapshot", ".json": "--report"]
            .first { file.hasSuffix($0.key) }?.value
        return "use \(name ?? "--save") \(quoted(file))"
    }

    private static func hardware(_ option: ForeignOption) -> String {
        ["no", "none"].contains(option.value) ? "use --decoder software" : "use --decoder auto"
    }

    private static func codec(_ option: ForeignOption) -> String {
        switch option.value?.lowercased() {
        case let name? where name.contains("264") || name.contains("avc"): "use --codec h264"
        case let name? where name.contains("265") || name.contains("hevc"): "use --codec hevc"
        default: "leave it out: camplay plays H.264 and H.265"
        }
    }

    /// `-vf scale=640:480`
    private static func scale(_ option: ForeignOption) -> String {
        let parts = option.value?.split { "=:x".contains($0) } ?? []
        let size = parts.count == 3 && parts[0] == "scale" ? "\(parts[1])x\(parts[2])" : "WxH"
        return "use --scale \(quoted(size)) with --output or --snapshot"
    }
}
