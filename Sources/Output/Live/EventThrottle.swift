import CamPlatform

/// Limits the rate of reported events: a burst, then a few per second. The others are counted, and the count is
/// reported as soon as the rate allows. Used by one thread.
struct EventThrottle {
    private static let burst = 20.0
    private static let perSecond = 2.0

    private let handler: @Sendable (LiveEvent) -> Void
    private var credit = Self.burst
    private var lastTime: Instant?
    private var suppressed = 0

    init(_ handler: @escaping @Sendable (LiveEvent) -> Void) { self.handler = handler }

    /// Reports an event, or counts it.
    mutating func report(_ event: LiveEvent, at now: Instant) {
        if let lastTime {
            credit = min(Self.burst, credit + (now - lastTime).inSeconds * Self.perSecond)
        }
        lastTime = now
        guard credit >= 1 else {
            suppressed += 1
            return
        }
        credit -= 1
        flush()
        handler(event)
    }

    /// Reports how many events were left out.
    mutating func flush() {
        guard suppressed > 0 else { return }
        handler(.suppressed(suppressed))
        suppressed = 0
    }
}
