import Bitstream
import CamPlatform

/// Decides which frames become IDR: the regular ones of an interval, and any requested frame.
///
/// Frames are counted from 0 on a grid that never moves, neither by a request nor by an encoder's restart.
/// Time is counted from the previous keyframe, whatever caused it, so that lost frames do not stretch the
/// interval.
public struct KeyframePolicy: Sendable {
    /// The distance of regular keyframes.
    public let interval: KeyframeInterval
    /// The number of frames encoded so far, which is the next one's number.
    public private(set) var frameNumber = 0
    /// When the latest keyframe was captured; nil before the first.
    private var latestKeyframe: Instant?
    private var isRequested = false

    public init(interval: KeyframeInterval) { self.interval = interval }

    /// Decides how the next frame is coded.
    /// - Parameters:
    ///   - timestamp: when it was captured.
    ///   - frameDuration: nominal time from one frame to the next.
    public func kind(at timestamp: Instant, frameDuration: Duration) -> FrameKind {
        isRequested || isRegular(at: timestamp, frameDuration: frameDuration) ? .idr : .automatic
    }

    /// Whether the next frame is a regular keyframe.
    public func isRegular(at timestamp: Instant, frameDuration: Duration) -> Bool {
        guard let latestKeyframe else { return true }
        if let frames = interval.frames, frameNumber.isMultiple(of: frames) { return true }
        guard let duration = interval.duration else { return false }
        // Clocks jitter: a frame that is a hair early would make every other interval a frame longer. Some go
        // backwards; what counts then is how far.
        return (timestamp - latestKeyframe).magnitude >= (duration - frameDuration / 4).magnitude
    }

    /// Makes the next frame an IDR, in addition to the regular ones: on a user's request, after a restart.
    public mutating func request() { isRequested = true }

    /// An encoder took the next frame.
    /// - Parameter timestamp: when it was captured.
    public mutating func advance(_ kind: FrameKind, at timestamp: Instant) {
        if kind == .idr { latestKeyframe = timestamp }
        frameNumber += 1
        isRequested = false
    }

    /// The encoder failed. Frames it never returned do not count; the next frame is an IDR.
    /// - Parameter encodedFrames: how many came out since the beginning.
    public mutating func restart(after encodedFrames: Int) {
        frameNumber = encodedFrames
        isRequested = true
    }
}

/// How an encoder is to code a frame.
public enum FrameKind: Sendable, Hashable {
    /// The encoder chooses.
    case automatic
    /// An instantaneous decoding refresh: decoding can start here (H.264 clause 3.69).
    case idr
}
