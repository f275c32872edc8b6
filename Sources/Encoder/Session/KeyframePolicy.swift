import Bitstream
import CamPlatform

/// Decides which frames become IDR: the regular ones of an interval, and any requested frame.
///
/// An interval in frames counts from frame 0, on a grid that neither requests nor restarts move. An interval
/// in time counts from the previous keyframe of any kind, so lost frames do not stretch it.
public struct KeyframePolicy: Sendable {
    /// The interval of regular keyframes.
    public let interval: KeyframeInterval
    /// The number of encoded frames, which is the next frame's number.
    public private(set) var frameNumber = 0
    /// When the latest keyframe was captured; nil before the first.
    private var latestKeyframe: Instant?
    private var isRequested = false

    public init(interval: KeyframeInterval) { self.interval = interval }

    /// Decides how the next frame is coded.
    /// - Parameters:
    ///   - timestamp: the frame's capture time.
    ///   - frameDuration: the nominal time from one frame to the next.
    public func kind(at timestamp: Instant, frameDuration: Duration) -> FrameKind {
        isRequested || isRegular(at: timestamp, frameDuration: frameDuration) ? .idr : .automatic
    }

    /// Whether the next frame is a regular keyframe.
    public func isRegular(at timestamp: Instant, frameDuration: Duration) -> Bool {
        guard let latestKeyframe else { return true }
        if let frames = interval.frames, frameNumber.isMultiple(of: frames) { return true }
        guard let duration = interval.duration else { return false }
        // Clocks jitter: a frame slightly early would make every other interval a frame longer. If a clock
        // goes backwards, the distance counts.
        return (timestamp - latestKeyframe).magnitude >= (duration - frameDuration / 4).magnitude
    }

    /// Makes the next frame an IDR, in addition to the regular keyframes.
    public mutating func request() { isRequested = true }

    /// Advances to the next frame, after an encoder took this one.
    /// - Parameter timestamp: the capture time of the frame that the encoder took.
    public mutating func advance(_ kind: FrameKind, at timestamp: Instant) {
        if kind == .idr { latestKeyframe = timestamp }
        frameNumber += 1
        isRequested = false
    }

    /// Restarts after an encoder failed. Frames that the encoder never returned do not count; the next frame
    /// is an IDR.
    /// - Parameter encodedFrames: the number of frames that came out since the beginning.
    public mutating func restart(after encodedFrames: Int) {
        frameNumber = encodedFrames
        isRequested = true
    }
}

/// The requested coding of a frame.
public enum FrameKind: Sendable, Hashable {
    /// The encoder chooses the kind.
    case automatic
    /// An instantaneous decoding refresh: decoding can start here (H.264 clause 3.69).
    case idr
}
