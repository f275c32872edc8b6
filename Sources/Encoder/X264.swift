import CamPlatform

/// The options for libx264.
enum X264 {
    static let name = "libx264"

    static func options(_ properties: SessionProperties) -> [(String, String)] {
        var options = [
            ("preset", properties.latency == .quality ? "medium" : "veryfast"),
            (
                "profile",
                properties.profile == .constrainedBaseline ? "baseline" : properties.profile.rawValue
            ),
            ("forced-idr", "1"),
            ("coder", properties.entropyMode.rawValue),
            ("x264-params", parameters(properties)),
        ]
        if properties.latency == .realtime { options.append(("tune", "zerolatency")) }
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
        if let (lookahead, hasThread) = lookahead(properties) {
            parameters += ["rc-lookahead=\(lookahead)", lookahead == 0 ? "mbtree=0" : "mbtree=1"]
            if !hasThread { parameters.append("sync-lookahead=0") }
        }
        return parameters.joined(separator: ":")
    }

    /// The frames looked ahead, and whether a thread of its own does that, which holds back a frame more than the B
    /// frames; nil leaves both to the preset.
    private static func lookahead(_ properties: SessionProperties) -> (frames: Int, hasThread: Bool)? {
        let others = heldByThreads(properties)
        switch properties.latency {
        case .realtime: return nil
        case .quality:
            guard let delay = properties.maximumFrameDelay else { return nil }
            return (max(0, delay - properties.bFrames - others), false)
        case .throughput:
            let wanted = min(presetLookahead, properties.frameBudget)
            let room = max(0, (properties.maximumFrameDelay ?? .max) - others)
            let hasThread = others > 0 && room > max(wanted, properties.bFrames) + properties.bFrames
            return (min(wanted, room), hasThread)
        }
    }

    /// Each thread except the first holds a frame back, unless they share a picture's slices.
    private static func heldByThreads(_ properties: SessionProperties) -> Int {
        sharesSlices(properties) ? 0 : Int(threadCount(properties)) - 1
    }

    /// The frames that it holds back at most if speed matters (`x264_validate_parameters`, `i_delay` in x264's encoder.c).
    static func mostHeldBack(_ properties: SessionProperties) -> Int {
        let (lookahead, hasThread) = lookahead(properties) ?? (0, false)
        return max(properties.bFrames, lookahead) + (hasThread ? properties.bFrames + 1 : 0)
            + heldByThreads(properties)
    }

    /// The lookahead of the preset veryfast.
    private static let presetLookahead = 10

    /// Whether each slice has its own thread. x264 requires four rows of macroblocks for that, or makes fewer
    /// slices.
    private static func sharesSlices(_ properties: SessionProperties) -> Bool {
        properties.slices > 1 && 4 * properties.slices <= (properties.size.height + 15) / 16
    }

    /// Whether it works on one processor, where it could use several with slices or more delay.
    static func isSingleThreaded(_ properties: SessionProperties) -> Bool {
        properties.latency == .realtime && properties.slices == 1
    }

    /// The smallest number of frames that it holds back.
    static func leastFrameDelay(bFrames: Int, slices: Int) -> Int { bFrames }

    /// 0 leaves the number to x264.
    static func threadCount(_ properties: SessionProperties) -> Int32 {
        if properties.slices > 1 { return sharesSlices(properties) ? Int32(properties.slices) : 1 }
        switch properties.latency {
        case .realtime: return 1
        case .quality:
            guard let delay = properties.maximumFrameDelay else { return 0 }
            return Int32(max(1, min(16, delay - properties.bFrames + 1)))
        // libx264 itself uses half as many again as there are processors.
        case .throughput:
            let most = (properties.maximumFrameDelay ?? .max - 1) - properties.bFrames + 1
            return Int32(max(1, min(Processors.count * 3 / 2, 16, 1 + properties.frameBudget / 3, most)))
        }
    }
}
