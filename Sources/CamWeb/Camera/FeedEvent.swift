import CamPlatform
import NIOCore

/// A message from the reader of a camera to its viewers.
enum FeedEvent: Sendable {
    case status(CameraStatus)
    /// The next keyframe begins a stream of this kind.
    case facts(StreamFacts)
    case picture(LivePicture)
    /// The stream cannot have this form, with the reason in words.
    case impossible(LiveForm, reason: String)
}

/// The status of a camera's stream for its viewers.
enum CameraStatus: Hashable, Sendable {
    /// No attempt to connect has ended since the first viewer came.
    case connecting
    /// Connected, before the first keyframe of the stream.
    case waiting
    case live
    /// Not connected, with the reason in words.
    case unavailable(String)
}

/// A picture in the form that viewers get; all of them share its storage.
struct LivePicture: Sendable {
    let form: LiveForm
    let bytes: ByteBuffer
    let isKeyframe: Bool
    /// The container of the picture; nil in messages.
    var container: ContainerStart?
}

/// The beginning of a container, which each viewer gets first. Its identity tells containers apart.
final class ContainerStart: Sendable {
    let prologue: ByteBuffer
    /// The content type of the response, with the codec.
    let contentType: String

    init(prologue: ByteBuffer, contentType: String) {
        (self.prologue, self.contentType) = (prologue, contentType)
    }
}

// MARK: The mailbox

/// Carries events from a camera's thread to the server's thread; neither waits for the other. Memory is
/// bounded: if the server is late, pictures are dropped up to a keyframe.
final class FeedMailbox: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private let byteLimit: Int
    private var events: [FeedEvent] = []
    private var byteCount = 0
    private var gates: [LiveForm: KeyframeGate] = [:]

    /// More than any picture takes, and seconds of a usual stream.
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

/// Keeps a stream decodable for a slow receiver: once a picture has no room, no picture passes until a
/// keyframe that has room.
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
