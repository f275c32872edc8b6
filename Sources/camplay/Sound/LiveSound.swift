import Sound
import Threading
import Time

/// A live stream's sound, which arrives between its pictures.
///
/// `@unchecked Sendable`: all mutable state is accessed with the lock held.
final class LiveSound: SoundFeed, @unchecked Sendable {
    private let monitor = Monitor()
    private let presentation: Presentation
    private var items: [SoundFeedItem] = []
    private var clock = LiveClock()
    private var delay = SoundDelay()
    /// Whether sound of this stream has been played.
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
            items = [.begins(description)]
            (clock, delay, isHeard) = (LiveClock(), SoundDelay(), false)
            pictures.removeAll(keepingCapacity: true)
            return onBeginning
        }
        notify()
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
        monitor.withLock {
            let item = items.isEmpty ? nil : items.removeFirst()
            isHeard = isHeard || item?.isPacket == true
            return item
        }
    }

    /// A live stream has only one place.
    func seek(to time: Duration) {}

    func moment(of time: Duration) -> Instant? {
        guard !presentation.isPaused else { return nil }
        return monitor.withLock { clock.arrival(of: time).map { $0 + delay.value } }
    }
}

extension SoundFeedItem {
    fileprivate var isPacket: Bool { if case .packet = self { true } else { false } }
}
