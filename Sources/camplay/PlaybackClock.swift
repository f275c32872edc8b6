import CamPlatform

/// When a file's pictures are due, delayed by all pauses. The caller reads the clock.
struct PlaybackClock {
    /// Whether the viewer has paused.
    private(set) var isPaused = false
    /// How long the time stays at the first picture at most, because the loudspeaker is being opened; nil once it passes.
    private var patience: Duration?
    /// When the file's first picture was due, delayed by all pauses; nil until a picture is requested.
    private var start: Instant?
    private var standsSince = Instant.start

    /// Whether a picture was requested.
    var hasBegun: Bool { start != nil }

    /// Whether no time passes.
    var stands: Bool { isPaused || isHeld }

    /// Whether the time stays at the first picture.
    var isHeld: Bool { patience != nil }

    /// Until when it does at most; nil if it passes, and before the first picture.
    var holdEnd: Instant? { hasBegun ? patience.map { standsSince + $0 } : nil }

    /// How long it is until a picture is due; the first requested one is due at once.
    /// - Parameter due: the picture's time in the file.
    mutating func remaining(until due: Duration, now: Instant) -> Duration {
        guard let start else {
            (start, standsSince) = (now - due, now)
            return .zero
        }
        return start + due - now
    }

    /// When something is due; nil before the first picture, and while the time stands.
    func moment(of due: Duration) -> Instant? { stands ? nil : start.map { $0 + due } }

    /// How long ago a picture was due; nil if none was requested.
    func lateness(of due: Duration, now: Instant) -> Duration? { start.map { now - $0 - due } }

    /// Restarts the clock, because the next picture comes from elsewhere in the file: the time begins with
    /// that picture, and so does a pause in progress.
    mutating func restart() { start = nil }

    /// Pauses, or resumes where it paused.
    mutating func togglePause(now: Instant) { change(at: now) { $0.isPaused.toggle() } }

    /// Stays at the first picture until `release`, but not beyond `holdEnd`.
    mutating func hold(patience: Duration) { self.patience = patience }

    /// Lets the time pass from a moment on, if it was held.
    mutating func release(at moment: Instant) { change(at: moment) { $0.patience = nil } }

    private mutating func change(at moment: Instant, _ body: (inout PlaybackClock) -> Void) {
        let stood = stands
        body(&self)
        if stands, !stood { standsSince = moment }
        if stood, !stands { start = start.map { $0 + max(.zero, moment - standsSince) } }
    }
}
