import Bitstream
import CamPictures
import CamPlatform
import Containers

/// When a file's pictures are shown, counted from the first: according to a timestamp file, a rate, or a
/// container.
///
/// Used by one thread.
final class PictureClock {
    /// The requested rate; nil for the stream's own.
    let frameRate: FrameRate?
    /// When a picture after the last one would be due.
    private(set) var end = Duration.zero
    private let speed: Double
    private let timestamps: TimestampFile?
    /// The next picture's position.
    private(set) var place = Place()

    /// A position in the file.
    struct Place: Equatable {
        /// Pictures before it.
        var count = 0
        /// The time of the previous picture, at the file's own speed.
        fileprivate(set) var elapsed = Duration.zero
        fileprivate var firstTime: Duration?
        /// The difference between the position's time and the container's: a container's times restart with
        /// each of several joined recordings.
        fileprivate(set) var offset = Duration.zero

        /// Moves to a container's next picture. One that is slightly too early is shown at once; if the time
        /// goes back further, another recording follows.
        mutating func go(to time: Duration, duration: Duration) {
            let jitter = PresentationClock.largestStepBack(frameDuration: duration)
            if count > 0, time + offset < elapsed - jitter { offset = elapsed + duration - time }
            elapsed = max(elapsed, time + offset, .zero)
        }

        /// The time of the previous picture, in whole nanoseconds.
        var time: Duration { elapsed.rounded }
    }

    /// The rate of a stream that does not state one, as players assume for raw streams.
    private static let usualRate = 25.0

    /// Returns how long a picture is shown.
    /// - Parameter rate: nil for a stream that does not state one.
    static func frameDuration(at rate: FrameRate?) -> Duration {
        .seconds(1 / (rate?.framesPerSecond ?? usualRate))
    }

    init(_ options: ShowingOptions) throws(PlayError) {
        frameRate = options.fps?.rate
        speed = options.speed
        do throws(InputError) {
            timestamps =
                if let path = options.timestamps { try TimestampFile(path: path) } else { nil }
        } catch { throw .timestamps(error) }
    }

    /// When the next picture is due.
    /// - Parameters:
    ///   - rate: the rate of the stream, if known.
    ///   - time: the container's time; used if neither a rate nor times are given.
    func next(rate: FrameRate?, time: Duration? = nil) throws(PlayError) -> Duration {
        let duration = Self.frameDuration(at: rate)
        if let timestamps {
            let time = try self.time(from: timestamps)
            let first = place.firstTime ?? time
            place.firstTime = first
            place.elapsed = time - first
        } else if let time, frameRate == nil {
            place.go(to: time, duration: duration)
        } else if place.count > 0 {
            place.elapsed += duration
        }
        place.count += 1
        end = ((place.elapsed + duration) / speed).rounded
        return (place.elapsed / speed).rounded
    }

    /// Returns to an earlier position.
    func go(to place: Place) throws(PlayError) {
        self.place = place
        guard let timestamps else { return }
        do throws(InputError) {
            try timestamps.rewind()
            for _ in 0..<place.count { _ = try timestamps.next() }
        } catch { throw .timestamps(error) }
    }

    private func time(from file: TimestampFile) throws(PlayError) -> Duration {
        let time: Duration?
        do throws(InputError) { time = try file.next() } catch { throw .timestamps(error) }
        guard let time else { throw .tooFewTimestamps(file.path, count: place.count) }
        return time
    }
}

extension Duration {
    /// Rounded to the nearest nanosecond; the time must not be negative.
    fileprivate var rounded: Duration { .nanoseconds((self + .nanoseconds(1) / 2).inNanoseconds) }
}

/// When a file's pictures are due, delayed by all pauses. The caller reads the clock.
struct PlaybackClock {
    /// Whether the viewer has paused.
    private(set) var isPaused = false
    /// How long the clock may be held at the first picture while the loudspeaker opens; nil if it is not
    /// held.
    private var patience: Duration?
    /// When the file's first picture was due, delayed by all pauses; nil until a picture is requested.
    private var start: Instant?
    private var standsSince = Instant.start
    /// How long the clock stays at the first picture, because sound takes so long to be heard.
    private var lead = Duration.zero

    /// Whether a picture was requested.
    var hasBegun: Bool { start != nil }

    /// Whether the clock stands still.
    var stands: Bool { isPaused || isHeld }

    /// Whether the clock is held at the first picture.
    var isHeld: Bool { patience != nil }

    /// When the hold ends at the latest; nil without a hold, and before the first picture.
    var holdEnd: Instant? { hasBegun ? patience.map { standsSince + $0 } : nil }

    /// The time until a picture is due; the first requested picture is due at once.
    /// - Parameter due: the picture's time in the file.
    mutating func remaining(until due: Duration, now: Instant) -> Duration {
        guard let start else {
            (start, standsSince, lead) = (now - due + lead, now, .zero)
            return .zero
        }
        return start + due - now
    }

    /// When a time of the file is due; nil before the first picture, and while the clock stands.
    func moment(of due: Duration) -> Instant? { stands ? nil : start.map { $0 + due } }

    /// How long ago a picture was due; nil if none was requested.
    func lateness(of due: Duration, now: Instant) -> Duration? { start.map { now - $0 - due } }

    /// Restarts the clock, because the next picture comes from elsewhere in the file: the time begins with
    /// that picture, and so does a pause in progress.
    mutating func restart() { start = nil }

    /// Pauses, or resumes where it paused.
    mutating func togglePause(now: Instant) { change(at: now) { $0.isPaused.toggle() } }

    /// Holds the clock at the first picture until `release`, at most until `holdEnd`.
    mutating func hold(patience: Duration) { self.patience = patience }

    /// Releases a held clock after a delay, which begins with the first picture if none was requested yet.
    mutating func release(now: Instant, after delay: Duration) {
        guard isHeld else { return }
        if !hasBegun { lead = delay }
        change(at: now + delay) { $0.patience = nil }
    }

    private mutating func change(at moment: Instant, _ body: (inout PlaybackClock) -> Void) {
        let stood = stands
        body(&self)
        if stands, !stood { standsSince = moment }
        if stood, !stands { start = start.map { $0 + max(.zero, moment - standsSince) } }
    }
}
