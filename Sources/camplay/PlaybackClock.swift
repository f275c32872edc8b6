/// When a file's pictures are due, later by all pauses. Times are nanoseconds on one monotonic clock, which the caller
/// reads.
struct PlaybackClock {
    /// Whether the viewer has stopped at a picture.
    private(set) var isPaused = false
    /// When the file's first picture was due, later by all pauses; nil until a picture is requested.
    private var start: Int64?
    private var pauseStart: Int64 = 0

    /// How long it is until a picture is due; the first requested one is due at once.
    /// - Parameter due: the picture's time in the file.
    mutating func remaining(until due: Int64, now: Int64) -> Int64 {
        let begun = start ?? now - due
        start = begun
        return begun + due - now
    }

    /// How long ago a picture was due; nil if none was requested.
    func lateness(of due: Int64, now: Int64) -> Int64? { start.map { now - $0 - due } }

    /// What is shown next comes from elsewhere in the file: its time begins with the next picture, and so does the
    /// pause that may be going on.
    mutating func restart(now: Int64) { (start, pauseStart) = (nil, now) }

    /// Pauses or resumes.
    mutating func togglePause(now: Int64) {
        if isPaused {
            start = start.map { $0 + now - pauseStart }
        } else {
            pauseStart = now
        }
        isPaused.toggle()
    }
}
