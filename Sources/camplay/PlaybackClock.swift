import Time

/// When a file's pictures are due, later by all pauses. The caller reads the clock.
struct PlaybackClock {
    /// Whether the viewer has stopped at a picture.
    private(set) var isPaused = false
    /// When the file's first picture was due, later by all pauses; nil until a picture is asked for.
    private var start: Instant?
    private var pauseStart = Instant.start

    /// How long it is until a picture is due; the first requested one is due at once.
    /// - Parameter due: the picture's time in the file.
    mutating func remaining(until due: Duration, now: Instant) -> Duration {
        let begun = start ?? now - due
        start = begun
        return begun + due - now
    }

    /// How long ago a picture was due; nil where none was asked for.
    func lateness(of due: Duration, now: Instant) -> Duration? { start.map { now - $0 - due } }

    /// What is shown next comes from elsewhere in the file: its time begins with the next picture, and so does the
    /// pause that may be going on.
    mutating func restart(now: Instant) { (start, pauseStart) = (nil, now) }

    /// Stops, or goes on where it stopped.
    mutating func togglePause(now: Instant) {
        if isPaused {
            start = start.map { $0 + (now - pauseStart) }
        } else {
            pauseStart = now
        }
        isPaused.toggle()
    }
}
