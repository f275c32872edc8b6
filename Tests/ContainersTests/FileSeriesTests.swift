import CamPlatform
import Glibc
import TestSupport
import Testing
@testable import CamStorage
@testable import Containers

/// The names under which an output's files are opened, one after another.
@Suite struct FileSeriesTests {
    let bench = SegmentBench()

    private func series(_ pattern: String, timestamps: String? = nil, open: SinkOpening? = nil) -> FileSeries
    {
        FileSeries(
            FileSeries.Kind(names: bench.names(pattern), open: open ?? bench.open),
            timestamps: timestamps.map { FileSeries.Kind(names: bench.names($0), open: bench.open) },
            stream: bench.stream, volume: Volume(folder: bench.folder.path), clock: bench.clock)
    }

    /// The name of an opened file in the test's folder.
    private func name(_ path: String) -> String { String(path.dropFirst(bench.folder.path("").count + 1)) }

    @Test("skips a name that is taken while the file is opened")
    func takenName() throws {
        var series = series("a.h264")
        #expect(name(try series.next().path) == "a.h264")
        for taken in ["a-1.h264", "a-2.h264"] { bench.folder.write(taken, [1]) }
        #expect(name(try series.next().path) == "a-3.h264")
        #expect(bench.bytes("a-1.h264") == [1])
    }

    @Test("refuses the pattern if every name is taken")
    func noName() {
        var attempts = 0
        var series = series("a.h264") { (path, _) throws(OutputError) in
            attempts += 1
            throw OutputError(.exists, output: path)
        }
        #expect(throws: OutputError(.exists, output: bench.folder.path("a.h264"))) { _ = try series.next() }
        #expect(attempts == 10_000)
    }

    @Test("timestamps have the counter of their file, which skips one that timestamps have already")
    func timestamps() throws {
        bench.folder.write("t.txt", [1])
        var series = series("a.h264", timestamps: "t.txt")
        let opened = try series.next()
        #expect(name(opened.path) == "a-1.h264")
        #expect(opened.timestamps.map { name($0.path) } == "t-1.txt")
    }

    @Test("timestamps that cannot be created are reported as an interruption, and the file is opened")
    func timestampsFail() throws {
        bench.folder.write("t", [1])
        var series = series("a.h264", timestamps: "t/a.txt")
        let opened = try series.next()
        #expect(name(opened.path) == "a.h264")
        guard case .failure(let error)? = opened.timestamps?.sink else {
            Issue.record("timestamps were created beneath a file")
            return
        }
        #expect(error.kind == .notContinued(errno: ENOTDIR))
    }

    @Test("a folder that another output removes while the file is opened is created again, once")
    func removedFolder() throws {
        var removals = 1
        var series = series("%Y/a.h264") { [bench] (path, stream) throws(OutputError) in
            if removals > 0 {
                removals -= 1
                rmdir(Folder.of(path))
            }
            return try bench.open(path, stream)
        }
        #expect(name(try series.next().path) == "2009/a.h264")
        (removals, bench.wall) = (2, bench.wall + .seconds(365 * 86400))
        let error = #expect(throws: OutputError.self) { _ = try series.next() }
        #expect(error?.kind == .notCreated(errno: ENOENT))
    }
}
