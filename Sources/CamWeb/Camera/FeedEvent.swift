import Bitstream
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
    /// Connected; the recording is paused.
    case paused
    /// Not connected, with the reason in words.
    case unavailable(String)
    /// Connected to something that camweb cannot show, with the reason in words.
    case unplayable(String)
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

/// Carries events from a camera's thread to the server's thread; neither waits for the other.
///
/// Memory and the work of one turn are bounded, whatever the recorder sends: only the latest status and the latest
/// format wait, and if the server is late, pictures are dropped up to a keyframe.
final class FeedMailbox: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private let byteLimit: Int
    private let countLimit: Int
    private var events: [FeedEvent] = []
    private var byteCount = 0
    private var gates: [LiveForm: KeyframeGate] = [:]
    /// Whether the server's thread knows of the events.
    private var isAnnounced = false

    /// More than any picture takes, and seconds of a usual stream.
    static let defaultByteLimit = 32 << 20
    /// The most events waiting: seconds of the fastest camera.
    static let defaultCountLimit = 512
    /// The most events and bytes of one turn.
    static let (mostPerTurn, mostBytesPerTurn) = (16, 1 << 20)

    init(
        byteLimit: Int = FeedMailbox.defaultByteLimit, countLimit: Int = FeedMailbox.defaultCountLimit
    ) {
        (self.byteLimit, self.countLimit) = (byteLimit, countLimit)
    }

    /// Adds an event.
    /// - Returns: whether the server's thread must be told, because nothing waited.
    func post(_ event: FeedEvent) -> Bool {
        monitor.withLock {
            guard makeRoom(for: event) else { return false }
            events.append(event)
            byteCount += event.byteCount
            defer { isAnnounced = true }
            return !isAnnounced
        }
    }

    /// Returns the oldest events, as many as one turn may pass on, and whether there are more.
    func take() -> (events: [FeedEvent], hasMore: Bool) {
        monitor.withLock {
            var (count, bytes) = (0, 0)
            while count < min(Self.mostPerTurn, events.count), bytes < Self.mostBytesPerTurn {
                bytes += events[count].byteCount
                count += 1
            }
            let taken = Array(events.prefix(count))
            events.removeFirst(count)
            byteCount -= bytes
            isAnnounced = !events.isEmpty
            return (taken, isAnnounced)
        }
    }

    /// Removes what the event replaces.
    /// - Returns: false if the event has no room, or is already waiting.
    private func makeRoom(for event: FeedEvent) -> Bool {
        switch event {
        case .status: events.removeAll { if case .status = $0 { true } else { false } }
        case .facts: dropSupersededFormat()
        case .impossible(let form, _):
            return !events.contains { if case .impossible(form, _) = $0 { true } else { false } }
        case .picture(let picture):
            let count = picture.bytes.readableBytes
            let hasRoom = byteCount + count <= byteLimit && events.count < countLimit
            return gates[picture.form, default: KeyframeGate()]
                .admits(isKeyframe: picture.isKeyframe, hasRoom: hasRoom)
        }
        return true
    }

    /// Removes a format that no viewer knows yet, and its pictures, which no viewer could decode without it.
    private func dropSupersededFormat() {
        guard let index = events.firstIndex(where: { if case .facts = $0 { true } else { false } }) else {
            return
        }
        let kept = events[index...].filter {
            switch $0 {
            case .facts, .picture: false
            case .status, .impossible: true
            }
        }
        events.replaceSubrange(index..., with: kept)
        byteCount = events.reduce(0) { $0 + $1.byteCount }
    }
}

extension FeedEvent {
    fileprivate var byteCount: Int {
        if case .picture(let picture) = self { picture.bytes.readableBytes } else { 0 }
    }
}
