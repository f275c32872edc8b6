import CamPlatform

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
