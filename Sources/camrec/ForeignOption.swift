import CamCommandLine

// MARK: Table

/// Options of ffmpeg, rpicam-vid, ustreamer and others, as options of camrec.
extension ForeignOption {
    /// The options that `camrec` and `camrec record` translate; other commands translate those that they have
    /// themselves.
    static let recording = Table([
        (["o"], answer("name the OUTPUT without an option")),
        (["port", "host", "bind", "address"], listen),
        (
            ["list", "list-devices", "list-cameras", "list-formats", "list-formats-ext"],
            answer("use 'camrec devices'")
        ),
        (["list-ctrls", "list-controls"], answer("use 'camrec devices --controls'")),
        (["width", "height", "resolution", "video-size", "s"], size),
        (["framerate", "frame-rate", "rate", "r"], plain("--fps", "F")),
        (["gop", "gop-size", "intra", "keyint", "g"], plain("--keyframe-interval", "N")),
        (["crf", "cq", "global-quality"], quality), (["preset"], preset),
        (
            ["timeout"],
            { $0.time("--duration", unit: "ms", endless: "leave it out: camrec records until Ctrl-C") }
        ),
        (["t"], { $0.time("--duration", unit: "s", endless: "leave it out: camrec records until Ctrl-C") }),
        (["segment-time"], { $0.time("--segment", unit: "s", endless: "leave it out") }),
        (["rotation"], rotation), (["hflip", "vflip"], flip),
        (["b", "b:v", "vb", "video-bitrate"], plain("--bitrate", "RATE")),
        (["c", "c:v", "codec:v", "vcodec"], codec), (["f"], format),
        (["input-format", "pixel-format", "pixelformat"], plain("--format", "FORMAT")),
        (["pix-fmt"], samples),
        (["d", "i", "camera", "video-device"], device), (["e"], plain("--encoder", "ENCODER")),
        (["n", "frames:v", "vframes"], plain("--frames", "N")),
        (["p", "profile:v"], plain("--profile", "PROFILE")), (["q", "q:v"], plain("--quality", "N")),
        (["an", "no-audio"], answer("leave it out: camrec records sound only with --audio")),
        (["v"], answer("use --verbose, or --version")), (["V"], answer("use --version")),
        (["y"], answer("use --overwrite")),
    ])

    /// Options of ffmpeg, as options of `camrec remux`.
    static let remuxing = Table([
        (["i"], answer("name the INPUT without an option")),
        (
            ["c", "c:v", "c:a", "codec", "codec:v", "codec:a", "vcodec", "acodec"],
            answer("leave it out: camrec remux copies, and never encodes")
        ),
        (["f", "map"], answer("leave it out: the name of OUTPUT says its format, as in out.mkv")),
        (["ss"], { $0.time("--from", unit: "s", endless: "leave it out") }),
        (["t"], answer("use --to TIME, where the part ends")),
        (["r", "framerate"], plain("--fps", "F")), (["y"], answer("use --overwrite")),
    ])

    /// Options of ffprobe, as options of `camrec inspect`.
    static let inspecting = Table([
        (["i"], answer("name the FILE without an option")),
        (
            [
                "show-frames", "show-streams", "show-format", "show-packets", "show-entries", "of",
                "print-format", "output-format", "select-streams", "count-frames",
            ],
            answer("use --json")
        ),
        (["f"], answer("leave it out: camrec inspect recognizes the format")),
    ])
}

// MARK: Translations

extension ForeignOption {
    private static func listen(_ option: ForeignOption) -> String {
        let port = option.value(of: ["port"])
        guard let host = option.value(of: ["host", "bind", "address"]) else {
            return "use --listen \(port.map(quoted) ?? "[HOST:]PORT")"
        }
        return "use --listen \(quoted(address(host: host, port: port ?? "9982")))"
    }

    private static func size(_ option: ForeignOption) -> String {
        if let text = option.value(of: ["resolution", "video-size", "s"]) {
            let parts = text.lowercased().split { "x*:,".contains($0) }
            let size = sizes[text.lowercased()] ?? (parts.count == 2 ? "\(parts[0])x\(parts[1])" : text)
            return "use --size \(quoted(size))"
        }
        let (width, height) = (option.value(of: ["width"]), option.value(of: ["height"]))
        return "use --size \(width.map(quoted) ?? "WIDTH")x\(height.map(quoted) ?? "HEIGHT")"
    }

    /// ffmpeg's and everyday names of sizes.
    private static let sizes = [
        "vga": "640x480", "480p": "640x480", "svga": "800x600", "hd720": "1280x720", "720p": "1280x720",
        "hd": "1280x720", "hd1080": "1920x1080", "1080p": "1920x1080", "fhd": "1920x1080",
        "1440p": "2560x1440",
        "2160p": "3840x2160", "4k": "3840x2160", "uhd": "3840x2160", "uhd2160": "3840x2160",
    ]

    /// ffmpeg's `-pix_fmt yuv420p` is what camrec encodes anyway.
    private static func samples(_ option: ForeignOption) -> String {
        option.value == "yuv420p"
            ? "leave it out: camrec encodes yuv420p" : plain("--format", "FORMAT")(option)
    }

    /// x264's 0 is lossless, which camrec does not have.
    private static func quality(_ option: ForeignOption) -> String {
        guard let value = option.value else { return "use --quality N" }
        return
            "use --quality \(Double(value).map { max(1, min(51, $0.rounded())) }.map { "\(Int($0))" } ?? quoted(value))"
    }

    /// camrec chooses the preset: `SoftwareBackend` has it.
    private static func preset(_ option: ForeignOption) -> String {
        switch option.value {
        case nil: "use --latency realtime, throughput or quality"
        case "ultrafast", "superfast", "veryfast": "use --latency realtime"
        case "faster", "fast": "use --latency throughput"
        default: "use --latency quality"
        }
    }

    private static func rotation(_ option: ForeignOption) -> String {
        option.value == "0" ? "leave it out" : "use --rotate \(option.value.map(quoted) ?? "DEGREES")"
    }

    private static func flip(_ option: ForeignOption) -> String {
        if option.isGiven("hflip"), option.isGiven("vflip") { return "use --rotate 180" }
        return "use --flip \(option.name == "hflip" ? "h" : "v")"
    }

    private static func codec(_ option: ForeignOption) -> String {
        guard let value = option.value?.lowercased() else { return "use --codec h264, or --codec hevc" }
        let isHEVC = ["265", "hevc"].contains { value.contains($0) }
        if isHEVC || ["264", "avc"].contains(where: { value.contains($0) }) {
            return "use --codec \(isHEVC ? "hevc" : "h264")"
        }
        return "use --codec h264, or --codec hevc: camrec records no \(quoted(value))"
    }

    /// ffmpeg's `-f` names a device's driver, or a container.
    private static func format(_ option: ForeignOption) -> String {
        switch option.value {
        case "v4l2", "video4linux2": "leave it out: camrec reads V4L2 devices"
        case "mp4", "matroska", "mpegts", "h264", "hevc", "segment":
            "leave it out: the name of OUTPUT says its format, as in out.mkv"
        default: plain("--format", "FORMAT")(option)
        }
    }

    private static func device(_ option: ForeignOption) -> String {
        if let number = option.value.flatMap({ Int($0) }) { return "use --device /dev/video\(number)" }
        return plain("--device", "DEVICE")(option)
    }
}
