import Bitstream
import Glibc
import TestSupport
import Testing
import Threading

@testable import Output

/// A recorded raw stream on its way into a container.
@Suite struct RemuxTests {
    private let folder = TemporaryFolder()

    struct Case: CustomTestStringConvertible {
        let codec: Codec
        let bFrames: Int
        let format: ContainerFormat
        var testDescription: String { "\(codec) with \(bFrames) B pictures to \(format)" }
    }

    static let cases = Codec.allCases.flatMap { codec in
        [0, 3].flatMap { bFrames in
            ContainerFormat.allCases.map { Case(codec: codec, bFrames: bFrames, format: $0) }
        }
    }

    private func record(_ stream: CodedStream, to name: String) {
        folder.write(name, stream.units.flatMap(\.allBytes))
    }

    private func writeTimes(_ times: [Int64], to name: String) {
        let lines = times.map { "\($0 / 1_000_000).\(String($0 % 1_000_000 + 1_000_000).dropFirst())" }
        folder.write(name, Array((["# timestamp format v2"] + lines).joined(separator: "\n").utf8))
    }

    private func remux(
        _ input: String, _ timestamps: String? = nil, frameRate: NominalFrameRate? = nil, to output: String
    ) throws(RemuxError) -> Remux {
        let remux = try Remux(
            folder.path(input),
            Remux.Companions(timestampFile: timestamps.map(folder.path), frameRate: frameRate))
        try remux.write(
            to: folder.path(output), format: RemuxFormat(path: output) ?? .container(.matroska),
            overwrite: false,
            interruption: Interruption() ?? { preconditionFailure("no descriptors") }())
        return remux
    }

    private func problem(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    // MARK: Times

    @Test("each picture is at its line's time", arguments: cases)
    func times(_ kind: Case) throws {
        let stream = try CodedStream(kind.codec, bFrames: kind.bFrames)
        let times = (0..<60).map { Int64($0) * 33_333_333 + Int64($0 / 7) * 150_000_000 }
        record(stream, to: "in.raw")
        writeTimes(times, to: "in.txt")
        let output = "out.\(kind.format.rawValue)"
        let remux = try remux("in.raw", "in.txt", to: output)
        #expect(remux.pictureCount == 60)
        #expect(remux.description.reordering <= stream.reordering)
        let content = try #require(ContainerContent(folder.path(output)))
        let tolerance: Int64 = kind.format == .matroska ? 500_001 : 5_556
        #expect(content.packets.count == 60)
        for (time, unit) in zip(content.times, stream.units) {
            #expect(abs(time - times[unit.frameNumber]) <= tolerance)
        }
    }

    @Test(
        "without a timestamp file the stream's own rate counts, or the one given", arguments: Codec.allCases)
    func rates(codec: Codec) throws {
        record(try CodedStream(codec, frames: 30), to: "in.raw")
        #expect(try remux("in.raw", to: "own.mp4").description.frameRate == NominalFrameRate(30, in: 1))
        #expect(
            ContainerContent(folder.path("own.mp4"))?.packets.map(\.presentation)
                == (0..<30).map { $0 * 3000 })
        _ = try remux("in.raw", frameRate: NominalFrameRate(15, in: 1), to: "given.mp4")
        #expect(
            ContainerContent(folder.path("given.mp4"))?.packets.map(\.presentation)
                == (0..<30).map { $0 * 6000 })
    }

    @Test("fewer times than pictures are refused before anything is created")
    func tooFew() throws {
        record(try CodedStream(.h264, frames: 30), to: "in.raw")
        writeTimes((0..<29).map { Int64($0) * 40_000_000 }, to: "in.txt")
        let file = folder.path("in.txt")
        #expect(throws: RemuxError.tooFewTimestamps(file: file, timestamps: 29, pictures: 30)) {
            _ = try remux("in.raw", "in.txt", to: "out.mkv")
        }
        #expect(folder.content("out.mkv") == nil)
    }

    @Test("a recording that was cut uses the times that it needs", arguments: Codec.allCases)
    func cut(codec: Codec) throws {
        let stream = try CodedStream(codec, frames: 30)
        let bytes = stream.units.flatMap(\.allBytes)
        folder.write("in.raw", Array(bytes[..<(bytes.count - 30)]))
        writeTimes((0..<35).map { Int64($0) * 40_000_000 }, to: "in.txt")
        let remux = try remux("in.raw", "in.txt", to: "out.mkv")
        #expect(remux.pictureCount + remux.unusedTimestampCount == 35)
        #expect(remux.pictureCount >= 29)
    }

    @Test("pictures ahead of the first keyframe are left out with their times")
    func headless() throws {
        let stream = try CodedStream(.h264, frames: 30, keyframeInterval: 10)
        folder.write("in.raw", stream.units.dropFirst(5).flatMap(\.allBytes))
        writeTimes((0..<25).map { Int64($0) * 40_000_000 }, to: "in.txt")
        let remux = try remux("in.raw", "in.txt", to: "out.mkv")
        #expect(remux.undecodableCount == 5)
        #expect(remux.pictureCount == 20)
        let times = try #require(ContainerContent(folder.path("out.mkv"))).times
        #expect(times == (0..<20).map { Int64($0) * 40_000_000 })
    }

    // MARK: Inputs

    @Test("what is no raw stream is told as what it is")
    func otherInputs() throws {
        let stream = try CodedStream(.h264, frames: 5)
        record(stream, to: "in.raw")
        folder.write("empty", [])
        #expect(try #require(problem { _ = try remux("empty", to: "out.mp4") }).contains("empty"))
        folder.write("text", Array("This is no video.".utf8))
        #expect(try #require(problem { _ = try remux("text", to: "out.mp4") }).contains("no H.264"))
        #expect(try #require(problem { _ = try remux("none", to: "out.mp4") }).contains("no such file"))
        #expect(try #require(problem { _ = try remux("", to: "out.mp4") }).contains("not a file"))
        #expect(folder.content("out.mp4") == nil)
    }

    @Test("a stream without any keyframe is refused")
    func noKeyframe() throws {
        let stream = try CodedStream(.h264, frames: 10)
        let units = stream.units.filter { !$0.isIDR }
        folder.write("in.raw", Array(stream.units[0].allBytes.prefix(40)) + units.flatMap(\.allBytes))
        #expect(problem { _ = try remux("in.raw", to: "out.mkv") } != nil)
        #expect(folder.content("out.mkv") == nil)
    }

    @Test("the output cannot be the input, under whatever name")
    func sameFile() throws {
        record(try CodedStream(.h264, frames: 5), to: "in.raw")
        symlink(folder.path("in.raw"), folder.path("link.mkv"))
        let before = folder.content("in.raw")
        let remux = try Remux(folder.path("in.raw"))
        let path = folder.path("link.mkv")
        let interruption = try #require(Interruption())
        #expect(throws: RemuxError.output(OutputError(.usedTwice("an input"), output: path))) {
            try remux.write(
                to: path, format: .container(.matroska), overwrite: true, interruption: interruption)
        }
        #expect(folder.content("in.raw") == before)
    }

    @Test("an end that is asked for leaves what plays")
    func interrupted() throws {
        record(try CodedStream(.h264), to: "in.raw")
        let remux = try Remux(folder.path("in.raw"))
        let interruption = try #require(Interruption())
        interruption.raise()
        #expect(throws: RemuxError.interrupted(pictures: 0, of: 60)) {
            try remux.write(
                to: folder.path("out.mkv"), format: .container(.matroska), overwrite: false,
                interruption: interruption)
        }
    }

    @Test("damaged streams are remuxed or refused", arguments: Codec.allCases, [0, 3])
    func damaged(codec: Codec, bFrames: Int) throws {
        let bytes = try CodedStream(codec, frames: 20, keyframeInterval: 5, bFrames: bFrames).units.flatMap(
            \.allBytes)
        var generator = SeededGenerator(seed: 1)
        for round in 0..<60 {
            var damaged = bytes
            for _ in 0...round % 8 {
                damaged[Int.random(in: 0..<damaged.count, using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            if round % 3 == 0 { damaged.removeFirst(Int.random(in: 0..<damaged.count, using: &generator)) }
            folder.write("in.raw", damaged)
            unlink(folder.path("out.mkv"))
            do throws(RemuxError) {
                let remux = try remux("in.raw", to: "out.mkv")
                #expect(remux.pictureCount > 0)
            } catch {
                #expect(!error.description.contains("\n"))
            }
        }
    }
}
