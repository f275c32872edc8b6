/// How libx265 is set up.
enum X265 {
    static let name = "libx265"
    /// In lines: from eight rows of coding tree units of 32 on the buffer is held.
    private static let smallestSharedHeight = 240

    static func options(_ properties: SessionProperties) -> [(String, String)] {
        let isRealtime = properties.latency == .realtime
        var options = [
            ("preset", isRealtime ? "superfast" : "medium"), ("profile", properties.profile.rawValue),
            ("forced-idr", "1"), ("x265-params", parameters(properties)),
        ]
        if isRealtime { options.append(("tune", "zerolatency")) }
        switch properties.rateControl {
        // libx265 takes 0 for lossless, which Main has not at all rates.
        case .constantQuantizer(let quantizer): options.append(("qp", "\(max(1, quantizer))"))
        case .constantQuality(let quality), .qualityVariableBitRate(let quality, _, _, _):
            options.append(("crf", "\(quality)"))
        case .constantBitRate, .variableBitRate: break
        }
        return options
    }

    /// Keyframes are ours alone, and closed: forced-idr alone would leave open groups with CRA pictures.
    private static func parameters(_ properties: SessionProperties) -> String {
        var parameters = [
            "scenecut=0", "open-gop=0", "slices=\(properties.slices)",
            // Its settings as text, 2.4 kB ahead of each keyframe.
            "info=0",
            // It would print to standard error by itself; what fails is told by libavcodec.
            "log-level=none",
        ]
        // Rows that are coded side by side know nothing of each other's bits, which is much where there are few: a
        // window had a third more than it may. Such pictures need no second thread.
        if properties.size.height < smallestSharedHeight { parameters += ["wpp=0"] }
        if let level = properties.level {
            parameters += ["level-idc=\(level.tenfold)", "high-tier=0"]
        }
        // zerolatency looks nowhere ahead, and libx265 does not open with more B pictures than it looks ahead.
        if properties.latency == .realtime, properties.bFrames > 0 {
            parameters += ["rc-lookahead=\(properties.bFrames + 1)"]
        }
        if properties.latency == .quality, let delay = properties.maximumFrameDelay {
            let lookahead = max(0, delay - properties.bFrames - Int(threadCount(properties)) + 1)
            // Its lookahead must exceed its B pictures.
            parameters += ["rc-lookahead=\(max(lookahead, properties.bFrames + 1))"]
        }
        return parameters.joined(separator: ":")
    }

    /// Pictures that are coded at once, each of which above the first holds one back; within a picture its rows
    /// share libx265's own threads. Nought leaves the number to libx265.
    static func threadCount(_ properties: SessionProperties) -> Int32 {
        guard properties.latency == .quality else { return 1 }
        guard let delay = properties.maximumFrameDelay else { return 0 }
        return Int32(max(1, min(16, delay - properties.bFrames + 1)))
    }
}
