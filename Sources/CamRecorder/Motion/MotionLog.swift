import Synchronization
import CamPlatform

/// The motion that a recording has seen; safe to use from any thread.
public final class MotionLog: Sendable {
    private let state = Mutex(State())

    private struct State {
        var start: Instant?
        var current: MotionEvent?
        var latest: [MotionEvent] = []
        var count = 0
    }

    /// What it holds.
    public struct Content: Sendable {
        /// The capture time of the first picture; nil before that.
        public let start: Instant?
        /// The events, the one that lasts included.
        public let count: Int
        /// The latest of them, in order.
        public let events: [MotionEvent]
        /// Whether the last one lasts.
        public let isMoving: Bool
    }

    /// Older events are counted, but not kept.
    public static let mostEvents = 1000

    init() {}

    /// The events so far.
    public var content: Content {
        state.withLock {
            Content(
                start: $0.start, count: $0.count, events: $0.latest + [$0.current].compactMap { $0 },
                isMoving: $0.current != nil)
        }
    }

    /// Notes the time of the first picture.
    func begin(at time: Instant) { state.withLock { $0.start = $0.start ?? time } }

    /// Notes an event that begins or lasts.
    func note(_ event: MotionEvent) {
        state.withLock {
            if $0.current == nil { $0.count += 1 }
            $0.current = event
        }
    }

    /// Notes an event that is over.
    func end(_ event: MotionEvent) {
        state.withLock {
            $0.current = nil
            if $0.latest.count == Self.mostEvents { $0.latest.removeFirst() }
            $0.latest.append(event)
        }
    }
}
