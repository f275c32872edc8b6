import NIOCore

/// What a camera's reader has to say to its viewers.
enum FeedEvent: Sendable {
    case status(CameraStatus)
    /// The next keyframe begins a stream of this kind.
    case facts(StreamFacts)
    case picture(LivePicture)
    /// The stream cannot have this form; in words, why.
    case impossible(LiveForm, reason: String)
}

/// A camera's stream as its viewers see it.
enum CameraStatus: Hashable, Sendable {
    /// Nobody has watched, or no attempt to connect has succeeded or failed yet.
    case connecting
    /// Connected; the stream's first keyframe has not come yet.
    case waiting
    case live
    /// Not connected; in words, why.
    case unavailable(String)
}

/// A picture as viewers get it; they share its storage.
struct LivePicture: Sendable {
    let form: LiveForm
    let bytes: ByteBuffer
    let isKeyframe: Bool
    /// The container that it belongs to; nil in messages.
    var container: ContainerStart?
}

/// The beginning of a container, which each of its viewers gets first. Its identity is the container's.
final class ContainerStart: Sendable {
    let prologue: ByteBuffer
    /// The response's, with the codec.
    let contentType: String

    init(prologue: ByteBuffer, contentType: String) {
        (self.prologue, self.contentType) = (prologue, contentType)
    }
}
