/// The options for libx264.
enum X264 {
    static let name = "libx264"

    static func options(_ properties: SessionProperties) -> [(String, String)] {
        let isRealtime = properties.latency == .realtime
        var options = [
            ("preset", isRealtime ? "veryfast" : "medium"),
            (
                "profile",
                properties.profile == .constrainedBaseline ? "baseline" : properties.profile.rawValue
            ),
            ("forced-idr", "1"),
            ("coder", properties.entropyMode.rawValue),
            ("x264-params", parameters(properties)),
        ]
        if isRealtime { options.append(("tune", "zerolatency")) }
        if let level = properties.level { options.append(("level", "\(level)")) }
        return options + properties.rateControl.softwareOptions
    }

    /// Only camrec places keyframes (no scene cuts, no open GOPs), and a picture is one slice: zerolatency
    /// would make one for each thread.
    private static func parameters(_ properties: SessionProperties) -> String {
        // Declares a constant frame rate; otherwise x264 would hold a frame back to find out how long each
        // lasts.
        var parameters = [
            "scenecut=0", "open-gop=0", "force-cfr=1", "sliced-threads=\(sharesSlices(properties) ? 1 : 0)",
        ]
        if properties.latency == .quality, let delay = properties.maximumFrameDelay {
            let lookahead = max(0, delay - properties.bFrames - Int(threadCount(properties)) + 1)
            parameters += [
                "rc-lookahead=\(lookahead)", "sync-lookahead=0", lookahead == 0 ? "mbtree=0" : "mbtree=1",
            ]
        }
        return parameters.joined(separator: ":")
    }

    /// Whether each slice has its own thread. x264 requires four rows of macroblocks for that, or makes fewer
    /// slices.
    private static func sharesSlices(_ properties: SessionProperties) -> Bool {
        properties.slices > 1 && 4 * properties.slices <= (properties.size.height + 15) / 16
    }

    /// The smallest number of frames that it holds back.
    static func leastFrameDelay(bFrames: Int, slices: Int) -> Int { bFrames }

    /// Each thread except the first holds a frame back, unless they share a picture's slices. 0 leaves the
    /// number to x264.
    static func threadCount(_ properties: SessionProperties) -> Int32 {
        if properties.slices > 1 { return sharesSlices(properties) ? Int32(properties.slices) : 1 }
        guard properties.latency == .quality else { return 1 }
        guard let delay = properties.maximumFrameDelay else { return 0 }
        return Int32(max(1, min(16, delay - properties.bFrames + 1)))
    }
}
