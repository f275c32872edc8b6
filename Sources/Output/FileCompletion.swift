import Bitstream
import CamPlatform

/// A file of a recording that is complete: nothing more is written to it, and it has its final name.
public struct FinishedFile: Sendable, Equatable {
    /// As the output names it.
    public let path: String
    /// When its first and its last picture were captured; nil if the source has no clock.
    public let start, end: WallTime?
    /// Its pictures.
    public let frames: Int

    /// Describes a file.
    public init(path: String, start: WallTime?, end: WallTime?, frames: Int) {
        (self.path, self.start, self.end, self.frames) = (path, start, end, frames)
    }
}

/// Reports each file of an output once it is finished. Used by one thread.
public struct FileCompletion {
    private let clock: (any TimeSource)?
    private let report: ((FinishedFile) -> Void)?
    private var frames = 0
    private var start: WallTime?
    private var latest = Instant.distantPast

    /// - Parameters:
    ///   - captureClock: the clocks of the access units' timestamps; nil if they have none.
    ///   - report: receives the files, on the writer's thread; nil if nobody wants them.
    public init(captureClock: (any TimeSource)? = nil, report: ((FinishedFile) -> Void)? = nil) {
        (clock, self.report) = (captureClock, report)
    }

    /// Notes an access unit that was written to the current file.
    mutating func note(_ unit: AccessUnit) {
        guard report != nil else { return }
        if frames == 0 { start = clock?.wallTime(at: unit.timestamp) }
        frames += 1
        latest = max(latest, unit.timestamp)
    }

    /// Ends the current file.
    /// - Parameter lost: the pictures that were written and are not in it.
    mutating func finish(_ path: String, lost: Int) {
        defer { (frames, start, latest) = (0, nil, .distantPast) }
        guard let report, frames > lost else { return }
        report(
            FinishedFile(
                path: path, start: start, end: clock?.wallTime(at: latest), frames: frames - lost))
    }
}
