/// Decides which frames become IDR: every N-th frame of the recording, and any frame asked for besides.
///
/// The grid counts encoded frames from 0 and never moves: not by a request, not by an encoder's restart.
public struct KeyframePolicy: Sendable, Hashable {
    /// Frames from one keyframe of the grid to the next, at least 1.
    public private(set) var interval: Int
    /// Frames encoded so far, and so the next one's number.
    public private(set) var frameNumber = 0
    private var isRequested = false

    /// - Parameter interval: frames, at least 1.
    public init(interval: Int) {
        precondition(interval >= 1)
        self.interval = interval
    }

    /// What the next frame is to be.
    public var nextKind: FrameKind {
        isRequested || frameNumber.isMultiple(of: interval) ? .idr : .automatic
    }

    /// Another distance from now on, on the same grid: the frame numbers that it divides.
    /// - Parameter interval: frames, at least 1.
    public mutating func changeInterval(to interval: Int) {
        precondition(interval >= 1)
        self.interval = interval
    }

    /// Makes the next frame an IDR, in addition to the grid: on a user's request, after a restart.
    public mutating func request() { isRequested = true }

    /// An encoder took the next frame.
    public mutating func advance() {
        frameNumber += 1
        isRequested = false
    }

    /// The encoder failed. Frames that never came out of it do not count; the next frame is an IDR.
    /// - Parameter encodedFrames: how many came out since the beginning.
    public mutating func restart(after encodedFrames: Int) {
        frameNumber = encodedFrames
        isRequested = true
    }
}

/// What an encoder is to make of a frame.
public enum FrameKind: Sendable, Hashable {
    /// Whatever the encoder finds best.
    case automatic
    /// An instantaneous decoding refresh: decoding can start here (H.264 clause 3.69).
    case idr
}
