import Bitstream
import CamPlatform
import Glibc
import TestSupport
@testable import CamStorage
@testable import Containers

/// A folder, a clock and a disk that fails on request, for outputs of several files.
final class SegmentBench {
    let folder = TemporaryFolder()
    let clock = ScriptedTime(now: .start, wallTime: WallTime(seconds: 1_234_567_890))
    /// The error of writing to the next files; nil for none.
    var failure: OutputError.Kind?
    /// The error of creating a file.
    var creationFailure: OutputError.Kind?
    /// Whether the next files take access units without writing them.
    var holdsBack = false
    /// The losses that the next files report, once.
    var retracted = WrittenUnits()
    /// The streams that files were opened for.
    private(set) var openedStreams: [StreamDescription] = []
    var calls = FileCalls()
    private(set) var events: [SegmentEvent] = []

    let stream = StreamDescription(codec: .h264, width: 320, height: 240, frameRate: nil)

    func recorder(
        _ pattern: String, _ length: SegmentSchedule.Length?, timestamps: String? = nil,
        retention: SegmentRetention = SegmentRetention(), oldestNamed: Duration? = nil
    ) throws -> SegmentRecorder {
        var plan = SegmentPlan(names: names(pattern), length: length)
        if let oldestNamed { plan.oldestNamed = oldestNamed }
        plan.timestamps = timestamps.map(names)
        (plan.retention, plan.calls) = (retention, calls)
        return try SegmentRecorder(
            plan, stream: stream, open: open,
            openTimestamps: { (path, stream) throws(OutputError) in
                try TimestampFileSink(
                    path: path, overwrite: false, stream: stream, cancellation: CancellationFlag()!)
            }, clock: clock, report: { [unowned self] in events.append($0) })
    }

    func rollover(_ name: String) throws -> FileRollover {
        let path = folder.path(name)
        return FileRollover(
            first: try open(path, stream), path: path, stream: stream, open: open, clock: clock,
            report: { [unowned self] in events.append($0) })
    }

    func names(_ pattern: String) -> FileNamePattern {
        FileNamePattern(folder.path(pattern), expandsTime: true, isUTC: true)
    }

    var wall: WallTime {
        get { clock.wallTime }
        set { clock.wallTime = newValue }
    }

    /// Seconds since the clock's start.
    var monotonic: Int {
        get { Int(clock.now.nanoseconds / 1_000_000_000) }
        set { clock.now = .start + .seconds(newValue) }
    }

    var open: SinkOpening {
        { [unowned self] (path, stream) throws(OutputError) in
            if let creationFailure { throw OutputError(creationFailure, output: path) }
            openedStreams.append(stream)
            return FailingSink(
                try FileSink(path: path, overwrite: false, cancellation: CancellationFlag()!),
                failure: { [unowned self] in failure }, holdsBack: { [unowned self] in holdsBack },
                takeRetracted: { [unowned self] in retracted.takeAll() })
        }
    }

    /// Writes units and returns which ones were lost.
    func lost(of units: some Sequence<AccessUnit>, by sink: SegmentRecorder) -> [Int] {
        units.compactMap { unit in
            do {
                try sink.write(unit)
                return nil
            } catch { return unit.frameNumber }
        }
    }

    func bytes(_ name: String) -> [UInt8] { folder.content(name) ?? [] }
}

/// Pictures of different lengths, ten a second, with an IDR at each of some numbers.
func pictures(_ range: Range<Int>, idrEvery interval: Int) -> [AccessUnit] {
    range.map {
        accessUnit(
            length: 100 + $0, isIDR: $0.isMultiple(of: interval), frameNumber: $0,
            timestamp: .start + .milliseconds(100) * $0)
    }
}

func allBytes(_ units: some Sequence<AccessUnit>) -> [UInt8] { units.flatMap(\.allBytes) }
