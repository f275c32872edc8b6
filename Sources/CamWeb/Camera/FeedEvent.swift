import CamPlatform
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

// MARK: The mailbox

/// Carries events from a camera's thread to the server's, without either waiting for the other. Bounded: if the server is
/// late, pictures are left out up to a keyframe.
final class FeedMailbox: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private let byteLimit: Int
    private var events: [FeedEvent] = []
    private var byteCount = 0
    private var gates: [LiveForm: KeyframeGate] = [:]

    /// More than any picture has, and seconds of a usual stream.
    static let defaultByteLimit = 32 << 20

    init(byteLimit: Int = FeedMailbox.defaultByteLimit) { self.byteLimit = byteLimit }

    /// Adds an event.
    /// - Returns: whether it is the first since the last `takeAll`.
    func post(_ event: FeedEvent) -> Bool {
        monitor.withLock {
            if case .picture(let picture) = event {
                let count = picture.bytes.readableBytes
                let hasRoom = byteCount + count <= byteLimit
                guard
                    gates[picture.form, default: KeyframeGate()]
                        .admits(isKeyframe: picture.isKeyframe, hasRoom: hasRoom)
                else { return false }
                byteCount += count
            }
            events.append(event)
            return events.count == 1
        }
    }

    /// Returns all events since the last call.
    func takeAll() -> [FeedEvent] {
        monitor.withLock {
            defer { (events, byteCount) = ([], 0) }
            return events
        }
    }
}

// MARK: Pictures without room

/// Keeps a stream decodable for a receiver that cannot take all of it: once a picture has no room, none passes until the
/// next keyframe that has.
struct KeyframeGate: Sendable {
    /// Whether the next picture passes if it has room.
    private(set) var isOpen = false

    /// Returns whether a picture passes.
    /// - Parameters:
    ///   - isKeyframe: whether decoding can begin with it.
    ///   - hasRoom: whether the receiver can take it.
    mutating func admits(isKeyframe: Bool, hasRoom: Bool) -> Bool {
        if !hasRoom { isOpen = false } else if isKeyframe { isOpen = true }
        return isOpen
    }
}
