import CFFmpeg
import CamPictures
import CamPlatform

/// The options for libx265.
enum X265 {
    static let name = "libx265"
    /// In lines. With eight or more rows of coding tree units of 32 lines, libx265 holds its buffer.
    private static let smallestSharedHeight = 240

    static func options(_ properties: SessionProperties) -> [(String, String)] {
        var options = [
            ("preset", properties.latency == .quality ? "medium" : "superfast"),
            ("profile", properties.profile.rawValue),
            ("forced-idr", "1"), ("x265-params", parameters(properties)),
        ]
        if properties.latency != .quality { options.append(("tune", "zerolatency")) }
        return options + properties.rateControl.softwareOptions
    }

    /// Only camrec places keyframes, and groups are closed: forced-idr alone would leave open groups with CRA
    /// pictures.
    private static func parameters(_ properties: SessionProperties) -> String {
        var parameters = [
            "scenecut=0", "open-gop=0", "slices=\(properties.slices)",
            // Its settings as text, 2.4 kB before each keyframe.
            "info=0",
            // It would print to standard error by itself; libavcodec reports failures.
            "log-level=none",
            // Otherwise the tier would change with the session's rates.
            "high-tier=0",
        ]
        // Rows that are coded in parallel do not know each other's bits, which matters if there are few rows:
        // a window had a third more than allowed. Such pictures need no second thread, unless they have
        // several slices.
        if properties.slices == 1, properties.size.height < smallestSharedHeight { parameters += ["wpp=0"] }
        if let level = properties.level {
            parameters.append("level-idc=\(level.tenfold)")
        }
        if let lookahead = lookahead(properties) { parameters.append("rc-lookahead=\(lookahead)") }
        return parameters.joined(separator: ":")
    }

    /// With fewer than three columns of blocks it codes no rows in parallel, and then reads out of bounds if
    /// a picture has several slices (3.5 crashes).
    /// Since 4.2, several slices corrupt its memory at any width (`ffmpeg -x265-params slices=4` crashes, too).
    static func maximumSlices(_ size: PictureSize, version: String? = loadedVersion) -> Int {
        let release = (version ?? "").prefix { $0.isNumber || $0 == "." }.split(separator: ".").map {
            Int($0) ?? 0
        }
        return size.width > 2 * 64 && release.lexicographicallyPrecedes([4, 2]) ? 32 : 1
    }

    /// Refuses pictures for which it crashes. From level 5 on, coding tree blocks have at least 32 lines (H.265, A.4.1);
    /// 3.5 believes that of smaller pictures, too, whose blocks are smaller.
    static func refuseCrash(at level: Level?, size: PictureSize) throws(EncoderError) {
        let least = PictureSize(32, 32)
        guard let level, level.needsLargeBlocks, let least, min(size.width, size.height) < least.height else {
            return
        }
        throw EncoderError(
            .unsupported(
                "\(name) encodes \(least) and larger at level \(level), not \(size); use a --level below 5"))
    }

    /// The loaded library's version, such as "3.5+1-f0c1022b6"; nil if libavcodec has no libx265.
    static var loadedVersion: String? { cffmpeg_x265_version().map { String(cString: $0) } }

    // MARK: Frames held back

    // Measured with 3.5 and 4.1, at every number of B frames, lookahead and threads: without lookahead and
    // with one thread nothing is held, or one frame if a picture has several slices; with two or more
    // threads, one frame per thread. With lookahead, one for each frame that it looks ahead, each B frame and
    // each thread, and two more. Lookahead must exceed the B frames.

    /// The frames that lookahead holds in addition to its own, the B frames' and the threads': the two above,
    /// and one that a race between its threads may leave behind permanently.
    private static let lookaheadOverhead = 3

    /// The smallest number of frames that it holds back.
    static func leastFrameDelay(bFrames: Int, slices: Int) -> Int {
        if bFrames > 0 { return 2 * bFrames + 2 + lookaheadOverhead }
        return slices > 1 ? 1 : 0
    }

    /// Frames looked ahead; nil leaves the number to the preset.
    private static func lookahead(_ properties: SessionProperties) -> Int? {
        let least = properties.bFrames == 0 ? 0 : properties.bFrames + 1
        // zerolatency has no lookahead of its own. With one, libx265 saves for a keyframe that it sees coming: in a
        // buffer that a keyframe half fills, the pictures ahead of it got 150 bytes each, and 26 dB.
        guard properties.latency == .quality else { return least == 0 ? nil : least }
        guard let delay = properties.maximumFrameDelay else {
            return properties.bFrames < presetLookahead ? nil : least
        }
        let room = delay - properties.bFrames - lookaheadOverhead - Int(threadCount(properties))
        return max(least, min(presetLookahead, room))
    }

    /// The lookahead of the preset medium.
    private static let presetLookahead = 20

    /// The frames that it holds back at most if speed matters.
    static func mostHeldBack(_ properties: SessionProperties) -> Int {
        let threads = Int(threadCount(properties))
        return leastFrameDelay(bFrames: properties.bFrames, slices: properties.slices)
            + (threads > 1 ? threads : 0)
    }

    /// Pictures that are coded at once; rows within a picture share libx265's own threads. 0 leaves the
    /// number to libx265.
    static func threadCount(_ properties: SessionProperties) -> Int32 {
        switch properties.latency {
        case .realtime: return 1
        case .throughput: return throughputThreadCount(properties)
        case .quality: break
        }
        guard let delay = properties.maximumFrameDelay else { return 0 }
        // Too little for any lookahead: all of it goes to threads.
        if properties.bFrames == 0, delay <= lookaheadOverhead + 1 { return Int32(max(1, delay)) }
        let room = delay - leastFrameDelay(bFrames: properties.bFrames, slices: properties.slices)
        return Int32(max(1, min(mostThreads, room / 4)))
    }

    private static func throughputThreadCount(_ properties: SessionProperties) -> Int32 {
        let others = leastFrameDelay(bFrames: properties.bFrames, slices: properties.slices)
        return Int32(max(1, min(mostThreads, max(2, Processors.count / 2), properties.frameBudget - others)))
    }

    /// libx265 itself uses this many on 16 processors.
    private static let mostThreads = 5
}
