import CamPlatform
import Glibc

/// When a recording, or its files, end by themselves.
package struct RecordingLimits: Sendable, Hashable {
    /// Frames, at least 1; nil for no limit.
    package var frames: Int?
    /// The duration from the first frame's timestamp; nil for no limit.
    package var duration: Duration?
    /// Whether only files end then, and live outputs continue.
    package var servesOn = false

    /// Limits the frames, the duration, both or neither.
    package init(frames: Int? = nil, duration: Duration? = nil, servesOn: Bool = false) {
        self.frames = frames
        self.duration = duration
        self.servesOn = servesOn
    }

    /// The duration after which the source is no longer needed; nil for no limit.
    var sourceDuration: Duration? { servesOn ? nil : duration }

    /// Whether so many encoded frames are enough.
    func isReached(byFrames count: Int) -> Bool { frames.map { count >= $0 } ?? false }

    /// Whether a picture comes too late.
    func isReached(at timestamp: Instant, since first: Instant) -> Bool {
        duration.map { timestamp - first >= $0 } ?? false
    }
}

// MARK: Across processes

/// The end of a recording of limited duration, which outlasts the process: its replacement records only the
/// remaining time.
///
/// It is stored in a file, in a folder that lasts as long as the service, by a clock that runs during suspend
/// and cannot be set.
package struct RecordingDeadline {
    private let path: String?
    private let duration: Duration
    private let clock: any TimeSource
    private var end: Instant?

    private static let name = "deadline"

    /// Reads the deadline that a previous process left in the folder, or creates one that begins with the
    /// recording.
    /// - Parameter folder: nil if no other process will continue the recording.
    package init(duration: Duration, folder: String?, clock: any TimeSource = SystemTime()) {
        (self.duration, self.clock) = (duration, clock)
        path = folder.map { "\($0)/\(Self.name)" }
        end = path.flatMap { Self.read($0) }.flatMap { $0.duration == duration ? $0.end : nil }
        // A later end cannot be from this boot.
        if let end, end > now + duration { self.end = nil }
    }

    /// The current time, including suspend.
    private var now: Instant { clock.now + clock.suspendedTime }

    /// The remaining time, zero or negative if it is over; nil if nothing has been recorded yet.
    package var remaining: Duration? { end.map { $0 - now } }

    /// Whether the time is over.
    package var isOver: Bool { remaining.map { $0 <= .zero } ?? false }

    /// Records that the recording begins or continues.
    /// - Returns: how long it should last.
    package mutating func begin() -> Duration {
        if let remaining { return max(.nanoseconds(1), remaining) }
        let end = now + duration
        self.end = end
        // A deadline that cannot be stored must not prevent the recording.
        if let path { Self.write("\(end.nanoseconds) \(duration.inNanoseconds)\n", to: path) }
        return duration
    }

    private static func read(_ path: String) -> (end: Instant, duration: Duration)? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        let numbers = text.split { $0.isWhitespace }.compactMap { Int64($0) }
        guard numbers.count == 2, text.hasSuffix("\n"), numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        return (Instant(nanoseconds: numbers[0]), .nanoseconds(numbers[1]))
    }

    /// Writes the file completely or not at all.
    private static func write(_ text: String, to path: String) {
        let temporary = path + ".new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let bytes = Array(text.utf8)
        let isWhole = Glibc.write(descriptor, bytes, bytes.count) == bytes.count
        close(descriptor)
        if !isWhole || rename(temporary, path) != 0 { unlink(temporary) }
    }
}

/// How a recording ends for a newer version of the program that was installed while it ran.
package struct Succession: Sendable, Hashable {
    /// Whether the recording ends at its next cut, so that the newer version continues with the next segment.
    package let endsAtCut: Bool

    /// Ends at a cut only if the newer version can continue without recording anything twice or for too long:
    /// it would read a file from its beginning again, and count frames from zero.
    /// - Parameters:
    ///   - isRestarted: whether a service manager starts the newer version when this one ends.
    ///   - isSegmented: whether the outputs begin new files by themselves.
    ///   - isLive: whether the source shows the present.
    ///   - limits: when the recording ends by itself. A duration outlasts the process.
    package init(isRestarted: Bool, isSegmented: Bool, isLive: Bool, limits: RecordingLimits) {
        endsAtCut = isRestarted && isSegmented && isLive && limits.frames == nil
    }

    /// The text in the status while the newer version waits.
    package var note: String {
        "a newer version waits for \(endsAtCut ? "the next segment" : "a restart")"
    }
}
