import CamSound
import CamPlatform

/// A live stream's sound, which arrives between its pictures.
///
/// `@unchecked Sendable`: all mutable state is accessed with the lock held.
final class LiveSound: SoundFeed, @unchecked Sendable {
    private let monitor = Monitor()
    private let presentation: Presentation
    private var items: [SoundFeedItem] = []
    private var clock = LiveClock()
    private var delay = SoundDelay()
    /// Whether this stream's sound is played: it may not be decodable, and there may be no loudspeaker.
    private var isHeard = false
    /// When pictures that arrived lately are due, oldest first.
    private var pictures: [(arrival: Instant, moment: Instant)] = []
    private var onArrival: @Sendable () -> Void = {}
    private var onBeginning: @Sendable () -> Void = {}

    /// Packets that wait while the viewer pauses, at most, and pictures that wait for their moment or are being decoded.
    private static let limit = 64

    init(with presentation: Presentation) { self.presentation = presentation }

    /// Sets callbacks; any thread may call them.
    /// - Parameters:
    ///   - arrival: for what has arrived.
    ///   - beginning: for another stream, with which sound of the last one has nothing to do.
    func whenChanged(
        arrival: @escaping @Sendable () -> Void, beginning: @escaping @Sendable () -> Void
    ) {
        monitor.withLock { (onArrival, onBeginning) = (arrival, beginning) }
    }

    /// Begins another stream.
    func begin(_ description: SoundDescription) {
        let notify = monitor.withLock {
            forget()
            items = [.begins(description)]
            return onBeginning
        }
        notify()
    }

    /// Ends the stream: the next one may have no sound.
    func end() {
        let notify = monitor.withLock {
            forget()
            return onBeginning
        }
        notify()
    }

    /// Call it with the lock held.
    private func forget() {
        (clock, delay, isHeard) = (LiveClock(), SoundDelay(), false)
        items.removeAll(keepingCapacity: true)
        pictures.removeAll(keepingCapacity: true)
    }

    /// Notes that a picture has arrived.
    func notePicture(at time: Duration, arrival: Instant) {
        monitor.withLock {
            clock.note(time, arrival: arrival)
            guard isHeard, let earliest = clock.arrival(of: time) else { return }
            if pictures.count == Self.limit { pictures.removeFirst() }
            pictures.append((arrival, earliest + delay.value))
        }
    }

    /// When a picture is due, so that its sound is heard with it; nil if none is heard.
    /// - Parameter arrival: when the picture arrived.
    func moment(ofPictureFrom arrival: Instant) -> Instant? {
        monitor.withLock { pictures.last { $0.arrival == arrival }?.moment }
    }

    /// Adds what has arrived.
    func add(_ packet: SoundPacket, arrival: Instant) {
        let notify = monitor.withLock {
            if let earliest = clock.arrival(of: packet.timestamp - .start) {
                delay.note(lag: arrival - earliest, at: arrival)
            }
            if items.count >= Self.limit, let oldest = items.firstIndex(where: \.isPacket) {
                items.remove(at: oldest)
            }
            items.append(.packet(packet))
            return onArrival
        }
        notify()
    }

    func next(isOver: () -> Bool) -> SoundFeedItem? {
        monitor.withLock { items.isEmpty ? nil : items.removeFirst() }
    }

    /// A live stream has only one place.
    func seek(to time: Duration) {}

    func moment(of time: Duration) -> Instant? {
        guard !presentation.isPaused else { return nil }
        return monitor.withLock {
            let moment = clock.arrival(of: time).map { $0 + delay.value }
            isHeard = isHeard || moment != nil
            return moment
        }
    }
}

extension SoundFeedItem {
    fileprivate var isPacket: Bool { if case .packet = self { true } else { false } }
}
