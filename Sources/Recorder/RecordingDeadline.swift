import Glibc
import Time

/// When a recording of limited duration is over, whatever happens to the process: another process that is started
/// in its place records what is left.
///
/// It stands in a file of a folder that lasts as long as the service does, by a clock that goes on while the machine
/// sleeps and that nobody can set.
public struct RecordingDeadline {
    private let path: String?
    private let duration: Duration
    private let clock: any TimeSource
    private var end: Instant?

    private static let name = "deadline"

    /// The deadline of a recording of this duration; that of a former process where the folder has one.
    /// - Parameter folder: nil where no other process will come.
    public init(duration: Duration, folder: String?, clock: any TimeSource = SystemTime()) {
        (self.duration, self.clock) = (duration, clock)
        path = folder.map { "\($0)/\(Self.name)" }
        end = path.flatMap { Self.read($0) }.flatMap { $0.duration == duration ? $0.end : nil }
        // None of this machine's present run is farther away.
        if let end, end > now + duration { self.end = nil }
    }

    /// The time that goes on while the machine sleeps.
    private var now: Instant { clock.now + clock.suspendedTime }

    /// What is left, zero or less if nothing is; nil if nothing has been recorded yet.
    public var remaining: Duration? { end.map { $0 - now } }

    /// Whether nothing is left to be recorded.
    public var isOver: Bool { remaining.map { $0 <= .zero } ?? false }

    /// The recording begins, or is begun again.
    /// - Returns: how long it is to last.
    public mutating func begin() -> Duration {
        if let remaining { return max(.nanoseconds(1), remaining) }
        let end = now + duration
        self.end = end
        // A recording is worth more than what a restart would make of it.
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

    /// The file is there whole or not at all.
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
