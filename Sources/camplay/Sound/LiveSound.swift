import CamPlatform
import CamSound

/// A live stream's sound, which arrives between its pictures.
///
/// `@unchecked Sendable`: all mutable state is accessed with the lock held.
final class LiveSound: SoundFeed, @unchecked Sendable {
    private let monitor = Monitor()
    private let presentation: Presentation
    private var items: [SoundFeedItem] = []
    private var clock = LiveClock()
    private var delay = SoundDelay()
    /// Whether this stream's sound is played: it may be undecodable, and there may be no loudspeaker.
    private var isHeard = false
    /// When recently arrived pictures are due, oldest first.
    private var pictures: [(arrival: Instant, moment: Instant)] = []
    private var onArrival: @Sendable () -> Void = {}
    private var onBeginning: @Sendable () -> Void = {}

    /// The maximum number of packets that wait during a pause, and of pictures that wait or are being
    /// decoded.
    private static let limit = 64

    init(with presentation: Presentation) { self.presentation = presentation }

    /// Sets callbacks; any thread may call them.
    /// - Parameters:
    ///   - arrival: called when sound has arrived.
    ///   - beginning: called when another stream begins, or this one ends.
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

    /// Records the arrival of a picture.
    func notePicture(at time: Duration, arrival: Instant) {
        monitor.withLock {
            clock.note(time, arrival: arrival)
            guard isHeard, let earliest = clock.arrival(of: time) else { return }
            if pictures.count == Self.limit { pictures.removeFirst() }
            pictures.append((arrival, earliest + delay.value))
        }
    }

    /// When a picture is due together with its sound; nil if no sound is heard.
    /// - Parameter arrival: when the picture arrived.
    func moment(ofPictureFrom arrival: Instant) -> Instant? {
        monitor.withLock { pictures.last { $0.arrival == arrival }?.moment }
    }

    /// Adds a packet that has arrived.
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

    /// Does nothing: a live stream has only one position.
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

// MARK: Clock and delay

/// Estimates when a live stream's times are due from how long its pictures take to arrive. The quickest
/// picture of the last seconds counts, which ignores delayed pictures and follows a sender's drifting clock.
/// The caller reads the clock.
struct LiveClock {
    /// Arrivals minus times in the stream: the smallest since `since`, and in the period before.
    private var (current, previous): (Duration?, Duration?) = (nil, nil)
    private var since = Instant.start

    private static let period = Duration.seconds(3)

    /// Records the arrival of a picture.
    /// - Parameter time: its time in the stream.
    mutating func note(_ time: Duration, arrival: Instant) {
        let delay = (arrival - .start) - time
        if current == nil || arrival - since >= Self.period {
            (previous, current, since) = (current, delay, arrival)
        } else {
            current = min(current ?? delay, delay)
        }
    }

    /// The earliest arrival of a picture with this time; nil before the first picture.
    func arrival(of time: Duration) -> Instant? {
        guard let current else { return nil }
        return .start + min(current, previous ?? current) + time
    }
}

/// The delay with which a live stream is played so that its sound arrives in time. It is as short as the
/// sender allows: a packet is sent once it is complete, and some senders collect several. The caller reads
/// the clock.
struct SoundDelay {
    /// The delay.
    private(set) var value = Self.usual
    /// The longest lag since `since`.
    private var longest = Duration.zero
    private var since: Instant?

    /// The delay that camrec's sound needs.
    static let usual = Duration.milliseconds(120)
    /// The longest delay; later sound does not belong to the visible pictures.
    static let most = Duration.seconds(1)
    /// The time from arrival to loudspeaker.
    private static let way = Duration.milliseconds(40)
    /// How long a shorter delay must have sufficed before it is used.
    private static let period = Duration.seconds(10)

    /// Records the arrival of a packet.
    /// - Parameter lag: how much later than a picture of its time.
    mutating func note(lag: Duration, at now: Instant) {
        let begun = since ?? now
        since = begun
        longest = max(longest, min(lag, Self.most))
        if lag + Self.way > value { value = min(Self.most, lag + Self.way * 2) }
        guard now - begun >= Self.period else { return }
        // A jump is heard, so a little more than needed is no reason for one.
        if longest + Self.way * 4 < value { value = max(Self.usual, longest + Self.way * 2) }
        (longest, since) = (.zero, now)
    }
}
