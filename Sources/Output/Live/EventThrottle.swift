/// Forwards events as long as they are few: a burst, and then a limited number a second. The others are
/// counted, and the count is reported as soon as there is room. Used by one thread.
struct EventThrottle {
    private static let burst = 20.0
    private static let perSecond = 2.0

    private let report: @Sendable (LiveEvent) -> Void
    private var credit = Self.burst
    private var lastTime: Int64?
    private var suppressed = 0

    init(_ report: @escaping @Sendable (LiveEvent) -> Void) { self.report = report }

    /// Tells an event, or counts it.
    /// - Parameter now: monotonic nanoseconds.
    mutating func tell(_ event: LiveEvent, at now: Int64) {
        if let lastTime {
            credit = min(Self.burst, credit + Double(now - lastTime) / 1e9 * Self.perSecond)
        }
        lastTime = now
        guard credit >= 1 else {
            suppressed += 1
            return
        }
        credit -= 1
        flush()
        report(event)
    }

    /// Tells how many were left out.
    mutating func flush() {
        guard suppressed > 0 else { return }
        report(.suppressed(suppressed))
        suppressed = 0
    }
}
