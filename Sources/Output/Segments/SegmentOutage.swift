import CamPlatform

/// A period in which a recording cannot be written: when the next attempt is due, and what is lost until then.
///
/// Pauses between attempts grow. An outage soon after another one continues with that one's pauses.
struct SegmentOutage {
    /// The error that began the outage; nil while the recording can be written.
    private(set) var error: OutputError?
    private var isReported = false
    private var lost = 0
    private var nextAttempt = Instant.distantPast
    private var lastEnd: Instant?
    private var backOff = BackOff(first: .seconds(1), longest: .seconds(10), steadiness: .seconds(10))

    /// Whether nothing can be written at present.
    var isActive: Bool { error != nil }

    /// Whether writing may be attempted now.
    func allowsAttempt(at now: Instant) -> Bool { !isActive || now >= nextAttempt }

    /// Begins an outage.
    /// - Parameter isReported: whether `error` was reported.
    mutating func begin(with error: OutputError, isReported: Bool, at now: Instant) {
        if let lastEnd { backOff.noteSuccess(lasting: now - lastEnd) }
        (self.error, self.isReported, lost) = (error, isReported, 0)
    }

    /// Sets the time of the next attempt, after another one has failed.
    /// - Parameter skipsPause: whether the cause of the failure may be gone already.
    mutating func postpone(at now: Instant, skipsPause: Bool) {
        let pause = backOff.next()
        nextAttempt = skipsPause ? now : now + pause
    }

    /// Counts access units that could not be written.
    mutating func lose(_ count: Int) { lost += count }

    /// Ends the outage, after an access unit was written.
    /// - Parameter path: the file that it was written to.
    /// - Returns: the event to report.
    mutating func end(at now: Instant, path: String) -> SegmentEvent {
        (error, lastEnd) = (nil, now)
        return isReported ? .resumed(path: path, lost: lost) : .began(path: path)
    }
}
