import Bitstream
import Glibc
import TestSupport
import Testing
import CamPlatform
@testable import CamStorage
@testable import Containers

/// Which files are reported as finished, and when.
@Suite struct FileCompletionTests {
    private let bench = SegmentBench()

    /// Each file with its content when it was reported.
    private final class Finished {
        var files: [FinishedFile] = []
        var contents: [[UInt8]] = []
    }

    private let finished = Finished()

    private func completion(hasClock: Bool = true) -> FileCompletion {
        FileCompletion(captureClock: hasClock ? bench.clock : nil) { [finished] file in
            finished.files.append(file)
            finished.contents.append(contentOfFile(file.path) ?? [])
        }
    }

    private func recorder(hasClock: Bool = true) throws -> SegmentRecorder {
        try SegmentRecorder(
            SegmentPlan(names: bench.names("a.h264"), length: .frames(20)), stream: bench.stream,
            open: bench.open, clock: bench.clock, completion: completion(hasClock: hasClock))
    }

    private func names() -> [String] {
        finished.files.map { String($0.path.split(separator: "/").last ?? "") }
    }

    @Test("each segment, the last one too, when it is whole")
    func segments() throws {
        let sink = try recorder()
        let units = pictures(0..<50, idrEvery: 10)
        for unit in units {
            try sink.write(unit)
            // Not before the next one begins.
            #expect(finished.files.count == unit.frameNumber / 20)
        }
        try sink.finish()
        #expect(names() == ["a.h264", "a-1.h264", "a-2.h264"])
        #expect(finished.files.map(\.frames) == [20, 20, 10])
        #expect(finished.contents == [units[..<20], units[20..<40], units[40...]].map(allBytes))
    }

    @Test("with the times of capture of its first and last picture, by the wall clock as it is set then")
    func times() throws {
        let sink = try recorder()
        let boot = bench.clock.wallTime - (bench.clock.now - .start)
        for unit in pictures(0..<20, idrEvery: 10) { try sink.write(unit) }
        // The clock is set back by an hour before the second file begins.
        bench.clock.wallTime = bench.clock.wallTime - .seconds(3600)
        for unit in pictures(20..<40, idrEvery: 10) { try sink.write(unit) }
        try sink.finish()
        #expect(finished.files.map(\.start) == [boot, boot - .seconds(3598)])
        #expect(finished.files[1].end == boot - .milliseconds(3_596_100))
    }

    @Test("without times if the source has no clock")
    func withoutClock() throws {
        let sink = try recorder(hasClock: false)
        for unit in pictures(0..<20, idrEvery: 10) { try sink.write(unit) }
        try sink.finish()
        #expect(finished.files.map(\.start) == [nil] && finished.files.map(\.end) == [nil])
    }

    @Test("a file that a full disk cuts short has the frames that are in it, and an empty one is none")
    func fullDisk() throws {
        let sink = try recorder()
        let units = pictures(0..<30, idrEvery: 10)
        for unit in units[..<15] { try sink.write(unit) }
        bench.failure = .diskFull
        // What a container had not stored yet is lost, too.
        var lost = WrittenUnits()
        for unit in units[12..<15] { lost.add(unit) }
        bench.retracted = lost
        #expect(bench.lost(of: units[15..<21], by: sink) == Array(15..<21))
        #expect(finished.files.map(\.frames) == [12])
        bench.monotonic = 60
        #expect(bench.lost(of: units[21...], by: sink).count == 9)
        try? sink.finish()
        #expect(finished.files.count == 1)
    }

    @Test("a single file, and each that follows when the picture's format changes")
    func rollover() throws {
        let path = bench.folder.path("one.h264")
        let sink = FileRollover(
            first: try bench.open(path, bench.stream), path: path, stream: bench.stream, open: bench.open,
            clock: bench.clock, completion: completion())
        let units = pictures(0..<30, idrEvery: 10)
        for unit in units[..<20] { try sink.write(unit) }
        #expect(finished.files.isEmpty)
        try sink.beginStream(StreamDescription(codec: .h264, width: 640, height: 240, frameRate: nil))
        #expect(names() == ["one.h264"])
        for unit in units[20...] { try sink.write(unit) }
        try sink.finish()
        #expect(names() == ["one.h264", "one-1.h264"] && finished.files.map(\.frames) == [20, 10])
        #expect(finished.contents == [units[..<20], units[20...]].map(allBytes))
    }
}
