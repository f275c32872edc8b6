import Bitstream
import TestSupport
import Testing
import CamPlatform
@testable import CamStorage
@testable import Containers

/// What containers say about a recording, as it is read back.
@Suite struct FileMetadataTests {
    private let folder = TemporaryFolder()
    private let clock = ScriptedTime(
        now: .start + .seconds(1000), wallTime: WallTime(nanoseconds: 1_764_114_044_123_456_000))
    private let camera = FileMetadata(camera: "Kamera é; a=b", program: "camrec 1.2.3")
    static let formats = [ContainerFormat.matroska, .mp4]

    /// Two seconds at thirty frames a second, captured from half a second before the clock's time on.
    private func stream() throws -> CodedStream {
        let first = (clock.now - .milliseconds(500)).nanoseconds
        return try CodedStream(.h264, timestamps: { first + Int64($0) * 33_333_333 })
    }

    private func record(
        _ stream: CodedStream, to name: String, isFinished: Bool = false, hasClock: Bool = true
    ) throws {
        let sink = try ContainerSink(
            path: folder.path(name), format: #require(ContainerFormat(path: name)), overwrite: false,
            stream: stream.description, metadata: camera, captureClock: hasClock ? clock : nil,
            cancellation: #require(CancellationFlag()), isFinished: isFinished)
        for unit in stream.units { try sink.write(unit) }
        try sink.finish()
    }

    private func metadata(_ name: String) throws -> FileMetadata {
        try ContainerReader(path: folder.path(name)).metadata
    }

    private func expected(from start: Duration) -> FileMetadata {
        var metadata = camera
        metadata.start = clock.wallTime + start
        return metadata
    }

    @Test("has the camera, the program, and the capture time of the first picture", arguments: formats)
    func whole(format: ContainerFormat) throws {
        try record(stream(), to: "a.\(format.rawValue)")
        try record(stream(), to: "finished.\(format.rawValue)", isFinished: true)
        #expect(try metadata("a.\(format.rawValue)") == expected(from: .milliseconds(-500)))
        #expect(try metadata("finished.\(format.rawValue)") == expected(from: .milliseconds(-500)))
    }

    @Test("a file cut off by a crash has them, too", arguments: formats)
    func cutOff(format: ContainerFormat) throws {
        try record(stream(), to: "a.\(format.rawValue)")
        let bytes = try #require(folder.content("a.\(format.rawValue)"))
        folder.write("cut.\(format.rawValue)", Array(bytes.prefix(bytes.count * 3 / 4)))
        #expect(try metadata("cut.\(format.rawValue)") == expected(from: .milliseconds(-500)))
    }

    @Test("has no time if the source has no clock", arguments: formats)
    func withoutClock(format: ContainerFormat) throws {
        try record(stream(), to: "a.\(format.rawValue)", hasClock: false)
        #expect(try metadata("a.\(format.rawValue)") == camera)
    }

    @Test("each segment has its own, by the wall clock as it is set then", arguments: formats)
    func segments(format: ContainerFormat) throws {
        let stream = try stream()
        let plan = SegmentPlan(
            names: FileNamePattern(folder.path("a.\(format.rawValue)"), expandsTime: true),
            length: .frames(20))
        let recorder = try SegmentRecorder(
            plan, stream: stream.description,
            open: { [camera, clock] (path, description) throws(OutputError) in
                try ContainerSink(
                    path: path, format: format, overwrite: false, stream: description, metadata: camera,
                    captureClock: clock, cancellation: CancellationFlag()!)
            }, clock: clock)
        var starts: [WallTime] = []
        for unit in stream.units {
            // The clock is set back by an hour after the first segment.
            if unit.frameNumber == 20 { clock.wallTime = clock.wallTime - .seconds(3600) }
            if unit.frameNumber.isMultiple(of: 20) { starts.append(clock.wallTime(at: unit.timestamp)) }
            try recorder.write(unit)
        }
        try recorder.finish()
        #expect(starts.count == 3 && starts[1] < starts[0])
        for (name, start) in zip(["a", "a-1", "a-2"], starts) {
            let found = try #require(try metadata("\(name).\(format.rawValue)").start)
            // Microseconds.
            #expect((found - start).magnitude < .microseconds(1))
        }
    }

    @Test("a remux keeps them, and a part has the time at which it begins", arguments: formats)
    func remux(format: ContainerFormat) throws {
        try record(stream(), to: "a.mkv")
        func write(_ name: String, _ range: RemuxRange) throws {
            try Remux(folder.path("a.mkv"), range: range).write(
                to: folder.path(name), format: .container(format), overwrite: false,
                cancellation: #require(CancellationFlag()))
        }
        try write("all.\(format.rawValue)", RemuxRange())
        #expect(try metadata("all.\(format.rawValue)") == expected(from: .milliseconds(-500)))
        // A keyframe is at frame 30, a second after the first.
        try write("part.\(format.rawValue)", RemuxRange(start: .milliseconds(1100), end: nil))
        let part = try metadata("part.\(format.rawValue)")
        #expect(part.camera == camera.camera && part.program == camera.program)
        #expect((try #require(part.start) - clock.wallTime - .milliseconds(500)).magnitude < .milliseconds(1))
    }

    @Test("a raw stream and a transport stream say nothing")
    func nothing() throws {
        try record(stream(), to: "a.ts")
        #expect(try metadata("a.ts") == FileMetadata())
    }

    @Test("what a file says may be anything")
    func hostile() {
        let long = String(repeating: "x", count: 5000)
        let metadata = FileMetadata { $0 == "creation_time" ? "yesterday" : $0 == "model" ? long : "" }
        #expect(metadata.start == nil && metadata.program == nil)
        #expect(metadata.camera?.count == 200)
    }
}
