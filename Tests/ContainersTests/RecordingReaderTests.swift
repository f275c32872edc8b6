import Bitstream
import Glibc
import TestSupport
import Testing
import CamPlatform
@testable import Containers

@Suite("reading recordings from any keyframe on")
struct RecordingReaderTests {
    private let folder = TemporaryFolder()

    struct Case: CustomTestStringConvertible {
        let codec: Codec
        let bFrames: Int
        /// Nil for a raw stream.
        let format: ContainerFormat?
        var testDescription: String {
            "\(codec) with \(bFrames) B pictures in \(format?.rawValue ?? "no container")"
        }
    }

    static let cases = Codec.allCases.flatMap { codec in
        [0, 3].flatMap { bFrames in
            [nil, .matroska, .mp4, .transportStream].map {
                Case(codec: codec, bFrames: bFrames, format: $0)
            }
        }
    }

    /// Records a stream and opens the recording; the caller closes it.
    private func record(_ stream: CodedStream, _ kind: Case) throws -> Int32 {
        folder.write("in.raw", stream.units.flatMap(\.allBytes))
        guard let format = kind.format else { return open(folder.path("in.raw"), O_RDONLY) }
        try Remux(folder.path("in.raw")).write(
            to: folder.path("in"), format: .container(format), overwrite: false,
            cancellation: try #require(CancellationFlag()))
        return open(folder.path("in"), O_RDONLY)
    }

    private func pictures(
        _ part: RecordingReader.Part, of reader: RecordingReader
    ) throws -> [(bytes: [UInt8], time: Duration)] {
        var pictures: [(bytes: [UInt8], time: Duration)] = []
        try reader.read(part) { (item) in
            if case .picture(let unit, _, let time) = item { pictures.append((unit.allBytes, time)) }
        }
        return pictures
    }

    @Test("a file that was only begun says so", arguments: [40, 45])
    func begun(length: Int) throws {
        _ = try record(CodedStream(.h264, frames: 3), Case(codec: .h264, bFrames: 0, format: .matroska))
        let begun = try Array(#require(folder.content("in")).prefix(length))
        folder.write("begun.mkv", begun)
        let error = #expect(throws: RemuxError.self) {
            try Remux(folder.path("begun.mkv")).write(
                to: folder.path("out.h264"), format: .raw(.h264), overwrite: false,
                cancellation: try #require(CancellationFlag()))
        }
        #expect(error?.description.contains("ends before its first picture") == true)
    }

    @Test("pieces follow each other: no picture is missing, and none comes twice", arguments: cases)
    func pieces(_ kind: Case) throws {
        // A keyframe every 10 pictures, a third of a second.
        let stream = try CodedStream(kind.codec, bFrames: kind.bFrames)
        let file = try record(stream, kind)
        defer { close(file) }
        let reader = try RecordingReader(descriptor: file, name: "in")
        let length = try #require(try reader.length())
        #expect((length - .seconds(2)).magnitude < .milliseconds(2))
        #expect(try reader.length(isOver: { true }) == nil)
        var (time, found, parts) = (Duration.zero, [[UInt8]](), 0)
        while true {
            let part = try #require(try reader.part(from: time, until: time + .milliseconds(500)))
            #expect(part.start == time)
            found += try pictures(part, of: reader).map(\.bytes)
            parts += 1
            guard let end = part.end else { break }
            time = end
        }
        #expect(found == stream.units.map(\.allBytes))
        #expect(parts == 3)
    }

    @Test("a raw stream that states its times begins at the first of them, and is as long as they say")
    func captureTimes() throws {
        let stream = try CodedStream(.h264)
        let start = WallTime(seconds: 1_795_929_252)
        // A gap of a second after each ten pictures.
        let times = stream.units.indices.map { Duration.milliseconds(33 * $0 + 1000 * ($0 / 10)) }
        folder.write("in.raw", try stream.stating(times.map { start + $0 }))
        let file = open(folder.path("in.raw"), O_RDONLY)
        defer { close(file) }
        let reader = try RecordingReader(descriptor: file, name: "in")
        #expect(reader.metadata.start == start)
        let length = try #require(try reader.length())
        #expect((length - (times[59] + .nanoseconds(33_333_333))).magnitude < .milliseconds(1))
        #expect(try reader.keyframe(at: .milliseconds(1400))?.time == times[10])
    }

    @Test("a part begins at the keyframe before a time and ends at the one after it", arguments: cases)
    func part(_ kind: Case) throws {
        let stream = try CodedStream(kind.codec, bFrames: kind.bFrames)
        let file = try record(stream, kind)
        defer { close(file) }
        let reader = try RecordingReader(descriptor: file, name: "in")
        let part = try #require(try reader.part(from: .milliseconds(500), until: .milliseconds(1100)))
        let found = try pictures(part, of: reader)
        #expect(found.map(\.bytes) == stream.units[10..<40].map(\.allBytes))
        for (picture, unit) in zip(found, stream.units[10..<40]) {
            let time = Duration.nanoseconds(unit.timestamp.nanoseconds)
            #expect((picture.time - time).magnitude < .milliseconds(1))
        }
        let (keyframe, time) = try #require(try reader.keyframe(at: .milliseconds(1320)))
        #expect(keyframe.allBytes == stream.units[30].allBytes)
        #expect((time - .seconds(1)).magnitude < .milliseconds(1))
        #expect(try reader.keyframe(at: .seconds(100))?.unit.allBytes == stream.units[50].allBytes)
    }

    @Test("several recordings become one MP4, with the time between them", arguments: [0, 3])
    func clip(bFrames: Int) throws {
        let stream = try CodedStream(.h264, frames: 20, bFrames: bFrames)
        let file = try record(stream, Case(codec: .h264, bFrames: bFrames, format: .matroska))
        defer { close(file) }
        let output = try UnnamedFile(in: folder.path, limit: 1 << 20)
        let reader = try RecordingReader(descriptor: file, name: "in")
        let clip = try ClipWriter(finishing: reader.description, metadata: FileMetadata(), in: output)
        for shift in [Duration.zero, .seconds(100)] {
            clip.beginPart(shiftedBy: shift)
            try reader.read(.init(start: .zero)) { (item) throws(RemuxError) in
                try RemuxError.ofOutput { () throws(OutputError) in try clip.write(item) }
            }
        }
        try clip.finish()
        let copy = try RecordingReader(descriptor: output.descriptor, name: "copy")
        let found = try pictures(.init(start: .zero), of: copy)
        #expect(found.map(\.bytes) == (stream.units + stream.units).map(\.allBytes))
        let times = stream.units.map { Duration.nanoseconds($0.timestamp.nanoseconds) }
        for (picture, time) in zip(found, times + times.map { $0 + .seconds(100) }) {
            #expect((picture.time - time).magnitude < .milliseconds(1))
        }
        #expect(folder.names() == ["in", "in.raw"], "the output has no name")
    }

    @Test("a clip that grows too large fails")
    func limit() throws {
        let stream = try CodedStream(.h264, frames: 20)
        let file = try record(stream, Case(codec: .h264, bFrames: 0, format: nil))
        defer { close(file) }
        let output = try UnnamedFile(in: folder.path, limit: 1000)
        let reader = try RecordingReader(descriptor: file, name: "in")
        let clip = try ClipWriter(finishing: reader.description, metadata: FileMetadata(), in: output)
        #expect(throws: RemuxError.self) {
            try reader.read(.init(start: .zero)) { (item) throws(RemuxError) in
                try RemuxError.ofOutput { () throws(OutputError) in try clip.write(item) }
            }
            try RemuxError.ofOutput { () throws(OutputError) in try clip.finish() }
        }
        #expect(output.count <= 1000)
    }
}

extension CodedStream {
    /// The bytes of the stream with the capture time of each picture in it.
    /// - Parameter times: in the order of presentation.
    func stating(_ times: [WallTime]) throws -> [UInt8] {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: units[0].codec, limit: units.count))
        return try units.flatMap { unit in
            let stating = try shaper.shape(
                unit.allBytes.span.bytes, frameNumber: unit.frameNumber, sequence: 0, timestamp: .start,
                captureTime: times[unit.frameNumber])
            return try #require(stating).allBytes
        }
    }
}
