import NIOCore

/// What a camera's reader has to say to its viewers.
enum FeedEvent: Sendable {
    case status(CameraStatus)
    /// The next keyframe begins a stream of this kind.
    case format(StreamFacts)
    case picture(LivePicture)
}

/// A camera's stream as its viewers see it.
enum CameraStatus: Hashable, Sendable {
    /// No attempt to connect has succeeded or failed yet.
    case connecting
    /// Connected; the stream's first keyframe has not come yet.
    case waiting
    case live
    /// Not connected; in words, why.
    case unavailable(String)
}

/// A picture as viewers get it; they share its storage.
struct LivePicture: Sendable {
    let message: ByteBuffer
    let isKeyframe: Bool
}
