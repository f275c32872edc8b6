import CamPlatform
import Glibc
import Containers

/// A change in an output that has several files. `description` is one line.
package enum SegmentEvent: Sendable, Equatable, CustomStringConvertible {
    /// A file began.
    case began(path: String)
    /// A file cannot be continued or begun. Pictures are lost until a file begins.
    case interrupted(OutputError)
    /// A file began after this number of frames was lost.
    case resumed(path: String, lost: Int)
    /// A segment is recorded, but later runs will not know that they may remove it.
    case unnoted(OutputError)
    /// Too little space is free, and no older segment could make room.
    case shortOfRoom(folder: String)
    /// The number of segments in this folder's journal whose names may belong to other files now.
    case unrecognised(count: Int, folder: String)
    /// The file system of this folder has no locks, which keep two recorders from managing the same segments.
    case unlocked(errno: Int32, folder: String)
    /// An old segment was removed to keep the limits.
    case removed(path: String)

    /// Whether to report it even if the recording succeeds in the end.
    package var isWarning: Bool {
        switch self {
        case .interrupted, .resumed, .unnoted, .shortOfRoom, .unrecognised, .unlocked: true
        case .began, .removed: false
        }
    }

    package var description: String {
        switch self {
        case .began(let path): "writing \(path)"
        case .interrupted(let error): "\(error) (retrying)"
        case .resumed(let path, let lost): "\(path): recording again; frames lost: \(lost)"
        case .unnoted(let error): "\(error) (a later run will not remove what is recorded until then)"
        case .shortOfRoom(let folder):
            "\(folder): less space is free than --min-free requires, and no older segment can be removed; free some space"
        case .unrecognised(let count, let folder):
            "\(folder): recordings that are copies, were replaced, or cannot be identified, and are never removed: "
                + "\(count); 'camrec adopt \(folder)' takes them over"
        case .unlocked(let code, let folder):
            "\(folder): no lock (\(String(cString: strerror(code)))), so that nothing keeps a second camrec from removing "
                + "these segments; record each name with one camrec at a time"
        case .removed(let path): "removed \(path)"
        }
    }
}

// MARK: - Reporting

/// Reports events of an output's files. Repeated failures are reported at growing intervals.
struct OutputFileReporter {
    /// The first failure that is not part of an outage: an incomplete file, or missing timestamps.
    private(set) var failure: OutputError?
    private let handler: (SegmentEvent) -> Void
    private let clock: any TimeSource
    private var limit = MessageLimit()
    private var timestampLimit = MessageLimit()

    /// - Parameter handler: receives the events, on the writer's thread.
    init(clock: any TimeSource, handler: @escaping (SegmentEvent) -> Void) {
        (self.clock, self.handler) = (clock, handler)
    }

    /// Reports an event.
    func report(_ event: SegmentEvent) { handler(event) }

    /// Reports that writing failed, unless it was reported recently.
    /// - Returns: whether it was reported now.
    mutating func reportInterruption(_ error: OutputError) -> Bool {
        guard limit.admit(at: clock.now) != nil else { return false }
        handler(.interrupted(error))
        return true
    }

    /// Notes that a file that has ended is incomplete.
    mutating func noteIncomplete(_ error: OutputError) {
        failure = failure ?? error
        _ = reportInterruption(error)
    }

    /// Notes that a file lacks timestamps.
    mutating func noteTimestamps(_ error: OutputError) {
        failure = failure ?? error
        if timestampLimit.admit(at: clock.now) != nil { handler(.interrupted(error)) }
    }
}

// MARK: - Counting

/// The files that an output consists of.
package struct SegmentSummary: Sendable, Hashable {
    /// The number of files, including those removed as old segments.
    package var count = 0
    /// The first file's path; nil if there was none.
    package var first: String?
    /// The latest file's path; nil if there was none.
    package var last: String?
    /// The number of old files removed.
    package var removed = 0

    /// Creates an empty summary.
    package init() {}

    /// Counts a file that begins.
    mutating func add(_ path: String) {
        count += 1
        first = first ?? path
        last = path
    }

    /// Discounts the latest file, which was removed because it was empty when it ended.
    /// - Parameter previous: `last` before it was added.
    mutating func takeBack(to previous: String?) {
        count -= 1
        last = previous
        if count == 0 { first = nil }
    }
}

/// An output that continues in another file.
package protocol SegmentedSink: AccessUnitSink {
    /// Its files; nil while there is only one. Read it in the writer's thread, or after that has ended.
    var segments: SegmentSummary? { get }

    /// Which of its files are kept. Constant.
    var retention: SegmentRetention { get }

    /// Keeps segments, releases them, or lists those that are kept.
    func carryOut(_ command: KeepingCommand) throws(KeepingRefusal) -> KeptSegments
}

extension SegmentedSink {
    /// Most outputs remove no files.
    package var retention: SegmentRetention { SegmentRetention() }

    /// Most outputs remove no files.
    package func carryOut(_ command: KeepingCommand) throws(KeepingRefusal) -> KeptSegments {
        throw .noLimits
    }
}
