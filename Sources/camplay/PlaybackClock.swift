import Time

/// When a file's pictures are due, delayed by all pauses. The caller reads the clock.
struct PlaybackClock {
    /// Whether the viewer has paused.
    private(set) var isPaused = false
    /// When the file's first picture was due, delayed by all pauses; nil until a picture is requested.
    private var start: Instant?
    private var pauseStart = Instant.start

    /// How long it is until a picture is due; the first requested one is due at once.
    /// - Parameter due: the picture's time in the file.
    mutating func remaining(until due: Duration, now: Instant) -> Duration {
        let begun = start ?? now - due
        start = begun
        return begun + due - now
    }

    /// When something is due; nil before the first picture, and in a pause.
    func moment(of due: Duration) -> Instant? { isPaused ? nil : start.map { $0 + due } }

    /// How long ago a picture was due; nil if none was requested.
    func lateness(of due: Duration, now: Instant) -> Duration? { start.map { now - $0 - due } }

    /// Restarts the clock, because the next picture comes from elsewhere in the file: the time begins with
    /// that picture, and so does a pause in progress.
    mutating func restart(now: Instant) { (start, pauseStart) = (nil, now) }

    /// Pauses, or resumes where it paused.
    mutating func togglePause(now: Instant) {
        if isPaused {
            start = start.map { $0 + (now - pauseStart) }
        } else {
            pauseStart = now
        }
        isPaused.toggle()
    }
}
