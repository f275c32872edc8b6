import Bitstream
import CamPlatform
import Glibc
import CamPictures
import TestSupport
import Testing
@testable import Containers

/// Remuxing recorded raw streams and containers.
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
        _ input: String, _ timestamps: String? = nil, frameRate: FrameRate? = nil, to output: String
    ) throws(RemuxError) -> Remux {
        let remux = try Remux(
            folder.path(input),
            Remux.SidecarFiles(timestampFile: timestamps.map(folder.path), frameRate: frameRate))
        try remux.write(
            to: folder.path(output), format: RemuxFormat(path: output) ?? .container(.matroska),
            overwrite: false,
            cancellation: CancellationFlag() ?? { preconditionFailure("no descriptors") }())
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

    @Test("counts times that do not increase, in any decoding order")
    func backwardSteps() {
        // Each picture is its place in presentation order and its time.
        for (pictures, count) in [
            ([(0, 0), (1, 10), (2, 20)], 0), ([(0, 0), (1, 10), (2, 10), (3, 5), (4, 20)], 2),
            ([(0, 0), (3, 30), (1, 10), (2, 20), (6, 60), (4, 40), (5, 50)], 0),
            ([(0, 0), (3, 30), (1, 10), (2, 35), (6, 60), (4, 70), (5, 50)], 2),
        ] as [([(Int, Int64)], Int)] {
            var steps = BackwardSteps()
            for (number, time) in pictures { steps.note(number: number, time: .nanoseconds(time)) }
            #expect(steps.count == count, "\(pictures)")
        }
    }

    @Test("a raw stream's pictures have the times that they state", arguments: cases)
    func captureTimes(_ kind: Case) throws {
        let stream = try CodedStream(kind.codec, bFrames: kind.bFrames)
        let times = (0..<60).map { Int64($0) * 33_333_000 + Int64($0 / 7) * 150_000_000 }
        let start = WallTime(seconds: 1_795_929_252)
        folder.write("in.raw", try stream.stating(times.map { start + .nanoseconds($0) }))
        let output = "out.\(kind.format.rawValue)"
        let remux = try remux("in.raw", to: output)
        #expect(remux.usesCaptureTimes)
        let content = try #require(ContainerContent(folder.path(output)))
        let tolerance: Int64 = kind.format == .matroska ? 500_001 : 5_556
        for (time, unit) in zip(content.times, stream.units) {
            #expect(abs(time - times[unit.frameNumber]) <= tolerance)
        }
        // A requested rate comes first.
        let constant = try self.remux(
            "in.raw", frameRate: FrameRate(30), to: "constant.\(kind.format.rawValue)")
        #expect(!constant.usesCaptureTimes)
    }

    @Test("when the clock was set while recording, the time line goes on by one frame")
    func clockWasSet() {
        let start = WallTime(seconds: 1000)
        let frame = Duration.milliseconds(40)
        var timeline = CaptureTimeline(start: start, frameDuration: frame)
        let seconds = [0.0, 0.04, 0.12, 0.08, -3600, -3599.96, 4e9, 4e9 + 7200]
        let times = seconds.map { timeline.time(of: start + .milliseconds(Int64($0 * 1000))).inMilliseconds }
        #expect(times == [0, 40, 120, 80, 120, 160, 200, 200 + 7_200_000])
        // A picture without a time follows the previous one.
        #expect(timeline.time(of: nil).inMilliseconds == 7_200_240)
    }

    @Test("each picture has its line's time", arguments: cases)
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
        "without a timestamp file, the given rate counts, or else the stream's own", arguments: Codec.allCases
    )
    func rates(codec: Codec) throws {
        record(try CodedStream(codec, frames: 30), to: "in.raw")
        #expect(try remux("in.raw", to: "own.mp4").description.frameRate == FrameRate(announced: 30, in: 1))
        let own = try #require(ContainerContent(folder.path("own.mp4")))
        #expect(own.packets.map(\.presentation) == (0..<30).map { $0 * 3000 })
        _ = try remux("in.raw", frameRate: FrameRate(announced: 15, in: 1), to: "given.mp4")
        let given = try #require(ContainerContent(folder.path("given.mp4")))
        #expect(given.packets.map(\.presentation) == (0..<30).map { $0 * 6000 })
    }

    @Test("refuses fewer times than pictures before creating anything")
    func tooFew() throws {
        record(try CodedStream(.h264, frames: 30), to: "in.raw")
        writeTimes((0..<29).map { Int64($0) * 40_000_000 }, to: "in.txt")
        let file = folder.path("in.txt")
        #expect(throws: RemuxError.tooFewTimestamps(file: file, timestamps: 29, pictures: 30)) {
            _ = try remux("in.raw", "in.txt", to: "out.mkv")
        }
        #expect(folder.content("out.mkv") == nil)
    }

    @Test("a cut recording uses the times that it needs", arguments: Codec.allCases)
    func cut(codec: Codec) throws {
        let stream = try CodedStream(codec, frames: 30)
        let bytes = stream.units.flatMap(\.allBytes)
        let last = try #require(stream.units.last).allBytes
        folder.write("in.raw", Array(bytes.dropLast(last.count / 2)))
        writeTimes((0..<35).map { Int64($0) * 40_000_000 }, to: "in.txt")
        let remux = try remux("in.raw", "in.txt", to: "out.mkv")
        #expect(remux.pictureCount + remux.unusedTimestampCount == 35)
        #expect(remux.pictureCount >= 29)
    }

    @Test(
        "a last picture that ends within its slice's header costs no other", arguments: Codec.allCases,
        [1, 2, 3, 4, 6])
    func cutHeader(codec: Codec, length: Int) throws {
        let stream = try CodedStream(codec, frames: 30)
        let start = 4 + (codec == .h264 ? 1 : 2)
        let last = try #require(stream.units.last).allBytes.prefix(start + length)
        folder.write("in.raw", stream.units.dropLast().flatMap(\.allBytes) + last)
        let remux = try remux("in.raw", to: "out.mkv")
        // Where the bits suffice for a header, the picture is kept, as any that was cut.
        #expect(remux.pictureCount == 29 || length > 1 && remux.pictureCount == 30)
        let times = try #require(ContainerContent(folder.path("out.mkv"))).times
        #expect(times.count == remux.pictureCount)
    }

    @Test("leaves out pictures before the first keyframe, with their times")
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

    @Test(
        "leaves out damaged pictures up to the next keyframe, and all others keep their times",
        arguments: Codec.allCases, [0, 2])
    func damage(codec: Codec, bFrames: Int) throws {
        let stream = try CodedStream(codec, frames: 30, keyframeInterval: 10, bFrames: bFrames)
        record(stream, to: "whole.raw")
        writeTimes((0..<30).map { Int64($0) * 40_000_000 }, to: "in.txt")
        _ = try remux("whole.raw", "in.txt", to: "whole.mkv")
        let whole = try #require(ContainerContent(folder.path("whole.mkv")))
        let keyframes = stream.units.indices.filter { stream.units[$0].isIDR }
        for place in [keyframes[1] + 3, keyframes[1], keyframes[2] + 4] {
            var units = stream.units.map(\.allBytes)
            // The last NAL unit is a slice; the one of an IDR picture too.
            let start = try #require(
                units[place].indices.last { units[place][$0...].starts(with: [0, 0, 0, 1]) })
            units[place][start + 4] |= 0x80
            folder.write("in.raw", units.flatMap { $0 })
            let name = "out-\(place).mkv"
            let remux = try remux("in.raw", "in.txt", to: name)
            let end = keyframes.first { $0 > place } ?? units.count
            #expect(remux.pictureCount == 30 - (end - place))
            let times = try #require(ContainerContent(folder.path(name))).times
            #expect(times == Array(whole.times[..<place] + whole.times[end...]))
            let told = end == units.count ? remux.brokenEnd : remux.remarks(for: .container(.matroska)).first
            #expect(told?.contains("forbidden_zero_bit is set") == true)
            #expect(told?.contains("\(end - place)") == true)
            #expect(remux.losesPictures)
        }
    }

    @Test("damage in a unit before a slice belongs to its picture, and after the last picture to none")
    func damageBetweenPictures() throws {
        let stream = try CodedStream(.h264, frames: 30, keyframeInterval: 10)
        writeTimes((0..<30).map { Int64($0) * 40_000_000 }, to: "in.txt")
        var units = stream.units.map(\.allBytes)
        // A prefix NAL unit, which may lie between two slices of a picture.
        let prefix: [UInt8] = [0, 0, 0, 1, 0x80 | 14, 0x40, 0, 1, 7]
        units[13] = prefix + units[13]
        folder.write("prefix.raw", units.flatMap { $0 })
        let prefixed = try remux("prefix.raw", "in.txt", to: "prefix.mkv")
        #expect(prefixed.pictureCount == 23)
        let times = try #require(ContainerContent(folder.path("prefix.mkv"))).times
        #expect(times == (Array(0..<13) + Array(20..<30)).map { Int64($0) * 40_000_000 })
        // A sequence parameter set, as before a picture that never came.
        let last: [UInt8] = [0, 0, 0, 1, 0x80 | 0x67, 66, 0, 30, 7]
        folder.write("end.raw", stream.units.flatMap(\.allBytes) + last)
        #expect(try remux("end.raw", "in.txt", to: "end.mkv").pictureCount == 30)
    }

    // MARK: Containers

    @Test("raw to a container, to another and back is identical bit for bit", arguments: cases)
    func roundTrip(_ kind: Case) throws {
        let stream = try CodedStream(kind.codec, bFrames: kind.bFrames)
        record(stream, to: "in.raw")
        let raw = kind.codec == .h264 ? "h264" : "h265"
        for middle in ContainerFormat.allCases {
            let names = ["a.\(kind.format.rawValue)", "b.\(middle.rawValue)", "c.\(raw)"]
            for name in names { unlink(folder.path(name)) }
            _ = try remux("in.raw", to: names[0])
            _ = try remux(names[0], to: names[1])
            _ = try remux(names[1], to: names[2])
            #expect(folder.content(names[2]) == stream.units.flatMap(\.allBytes))
        }
    }

    @Test("a container's times survive, as far as the next one's ticks allow", arguments: cases)
    func timesSurvive(_ kind: Case) throws {
        let stream = try CodedStream(kind.codec, bFrames: kind.bFrames)
        // Whole milliseconds with a gap, a burst and a pause of minutes.
        let start = (0..<20).map { Int64($0 * 40) }
        let burst = (0..<10).map { Int64(3150 + $0 * 5) }
        let end = (30..<60).map { Int64(400_000 + $0 * 100) }
        let times = (start + burst + end).map { $0 * 1_000_000 }
        record(stream, to: "in.raw")
        writeTimes(times, to: "in.txt")
        _ = try remux("in.raw", "in.txt", to: "a.\(kind.format.rawValue)")
        for format in ContainerFormat.allCases {
            let output = "b.\(format.rawValue)"
            unlink(folder.path(output))
            _ = try remux("a.\(kind.format.rawValue)", to: output)
            let content = try #require(ContainerContent(folder.path(output)))
            #expect(content.times == stream.units.map { times[$0.frameNumber] })
        }
    }

    @Test("a cut begins at the previous keyframe and ends before the next one", arguments: cases)
    func cutAtKeyframes(_ kind: Case) throws {
        // A keyframe every 10 pictures, a third of a second.
        let stream = try CodedStream(kind.codec, frames: 60, bFrames: kind.bFrames)
        record(stream, to: "in.raw")
        _ = try remux("in.raw", to: "in.\(kind.format.rawValue)")
        for input in ["in.raw", "in.\(kind.format.rawValue)"] {
            let remux = try Remux(
                folder.path(input), range: RemuxRange(start: .milliseconds(500), end: .milliseconds(1100)))
            let cut = try #require(remux.cut)
            let end = try #require(cut.end)
            #expect((cut.start - .nanoseconds(333_333_333)).magnitude < .milliseconds(1))
            #expect((end - .nanoseconds(1_333_333_333)).magnitude < .milliseconds(1))
            #expect(remux.pictureCount == 30)
            let output = kind.codec == .h264 ? "part.h264" : "part.h265"
            unlink(folder.path(output))
            try remux.write(
                to: folder.path(output), format: .raw(kind.codec), overwrite: false,
                cancellation: try #require(CancellationFlag()))
            #expect(folder.content(output) == stream.units[10..<40].flatMap(\.allBytes))
        }
    }

    @Test("refuses a cut that begins after the end; one that ends there takes the rest")
    func cutAtTheEnd() throws {
        record(try CodedStream(.h264, frames: 60), to: "in.raw")
        #expect(throws: RemuxError.self) {
            _ = try Remux(folder.path("in.raw"), range: RemuxRange(start: .seconds(5)))
        }
        let rest = try Remux(
            folder.path("in.raw"), range: RemuxRange(start: .milliseconds(1900), end: .seconds(9)))
        #expect(rest.pictureCount == 10)
        #expect(rest.cut?.end == nil)
    }

    @Test("reads AVCC, with its parameter sets inside or separate", arguments: Codec.allCases)
    func lengthPrefixed(codec: Codec) throws {
        let stream = try CodedStream(codec)
        var bytes: [UInt8] = []
        var withoutSets: [UInt8] = []
        let writer = AVCC.Writer(lengthSize: .four)
        let short = AVCC.Writer(lengthSize: .two)
        var sets: [[UInt8]] = []
        for access in stream.units {
            for unit in access.units {
                let nalUnit = Array(access.allBytes[unit.bytes])
                try writer.append(nalUnit.span.bytes, to: &bytes)
                if unit.header.isParameterSet {
                    if !sets.contains(nalUnit) { sets.append(nalUnit) }
                } else {
                    try short.append(nalUnit.span.bytes, to: &withoutSets)
                }
            }
        }
        folder.write("in.avcc", bytes)
        folder.write("short.avcc", withoutSets)
        folder.write("short.avcC", try configurationRecord(codec, sets))
        let output = codec == .h264 ? ["a.h264", "b.h264"] : ["a.h265", "b.h265"]
        _ = try remux("in.avcc", to: output[0])
        #expect(folder.content(output[0]) == stream.units.flatMap(\.allBytes))
        let apart = try Remux(
            folder.path("short.avcc"), Remux.SidecarFiles(record: folder.path("short.avcC")))
        try apart.write(
            to: folder.path(output[1]), format: .raw(codec), overwrite: false,
            cancellation: try #require(CancellationFlag()))
        #expect(folder.content(output[1]) == stream.units.flatMap(\.allBytes))
    }

    private func configurationRecord(_ codec: Codec, _ sets: [[UInt8]]) throws -> [UInt8] {
        switch codec {
        case .h264:
            return try AVCDecoderConfigurationRecord(
                sequenceParameterSets: [sets[0]], pictureParameterSets: [sets[1]], lengthSize: .two
            ).bytes
        case .hevc:
            return try HEVCDecoderConfigurationRecord(
                videoParameterSets: [sets[0]], sequenceParameterSets: [sets[1]],
                pictureParameterSets: [sets[2]], lengthSize: .two
            ).bytes
        }
    }

    // MARK: Finished MP4

    /// The types of a file's boxes.
    private func boxes(_ name: String) throws -> [String] {
        let bytes = try #require(folder.content(name))
        var (types, position) = ([String](), 0)
        while position + 8 <= bytes.count {
            let size = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            types.append(String(decoding: bytes[position + 4..<position + 8], as: UTF8.self))
            position += max(size, 8)
        }
        return types
    }

    @Test("an MP4 has its index before its pictures", arguments: Codec.allCases, [0, 3])
    func indexInFront(codec: Codec, bFrames: Int) throws {
        record(try CodedStream(codec, bFrames: bFrames), to: "in.raw")
        _ = try remux("in.raw", to: "out.mp4")
        let boxes = try boxes("out.mp4")
        let (index, pictures) = (boxes.firstIndex(of: "moov"), boxes.firstIndex(of: "mdat"))
        #expect(try #require(index) < #require(pictures))
        #expect(!boxes.contains("moof"))
        #expect(folder.names() == ["in.raw", "out.mp4"])
    }

    @Test("an MP4 whose edit list leaves out its beginning or its end has lost nothing")
    func editList() throws {
        record(try CodedStream(.h264, bFrames: 3), to: "in.raw")
        #expect(try !remux("in.raw", to: "whole.mp4").losesPictures)
        let whole = try #require(folder.content("whole.mp4"))
        func place(_ kind: String) throws -> Int {
            let name = Array(kind.utf8)
            return try #require(whole.indices.first { whole[$0...].starts(with: name) })
        }
        func number(at place: Int) -> UInt32 { whole[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        func edited(_ name: String, _ place: Int, _ value: UInt32) throws -> Remux {
            var bytes = whole
            for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index)) }
            folder.write(name, bytes)
            return try Remux(folder.path(name))
        }
        // Of the only edit: its duration on the movie's clock, and where it begins on the video's.
        let (list, header) = (try place("elst"), try place("mdhd"))
        let scale = number(at: header + 16)
        let second = try edited("late.mp4", list + 16, number(at: list + 16) + scale)
        #expect(second.pictureCount < 50)
        #expect(!second.losesPictures && second.brokenEnd == nil)
        let half = try edited("short.mp4", list + 12, number(at: list + 12) / 2)
        #expect(half.pictureCount < 60)
        #expect(!half.losesPictures && half.brokenEnd == nil)
    }

    @Test("a cut-off end is a loss, unless only what comes before it is wanted")
    func cutOff() throws {
        record(try CodedStream(.h264), to: "in.raw")
        _ = try remux("in.raw", to: "whole.mp4")
        folder.write("in.mp4", try #require(folder.content("whole.mp4")).dropLast(500).map { $0 })
        #expect(try Remux(folder.path("in.mp4")).losesPictures)
        #expect(try !Remux(folder.path("in.mp4"), range: RemuxRange(end: .seconds(1))).losesPictures)
        #expect(try Remux(folder.path("in.mp4"), range: RemuxRange(start: .seconds(1))).losesPictures)
    }

    @Test("an MP4 that cannot be finished leaves nothing but the file it should replace")
    func unfinished() throws {
        record(try CodedStream(.h264, frames: 900), to: "in.raw")
        let small = try SmallFileSystem(bytes: 16384)
        let path = "\(small.path)/out.mp4"
        let remux = try Remux(folder.path("in.raw"))
        let cancellation = try #require(CancellationFlag())
        func write() throws(RemuxError) {
            try remux.write(to: path, format: .container(.mp4), overwrite: true, cancellation: cancellation)
        }
        #expect(throws: RemuxError.output(OutputError(.diskFull, output: path))) { try write() }
        #expect(contentOfFile(path) == nil)
        let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
        _ = Glibc.write(descriptor, "kept", 4)
        close(descriptor)
        #expect(throws: RemuxError.output(OutputError(.diskFull, output: path))) { try write() }
        #expect(contentOfFile(path) == Array("kept".utf8))
    }

    @Test("does not replace a file that appears while an MP4 is written, unless told to")
    func appears() throws {
        let file = try OutputFile(
            path: folder.path("out.mp4"), overwrite: false, cancellation: try #require(CancellationFlag()),
            isStaged: true)
        try file.write(Array("ours".utf8))
        file.keep()
        #expect(folder.content("out.mp4") == nil)
        folder.write("out.mp4", Array("theirs".utf8))
        #expect(throws: OutputError(.exists, output: folder.path("out.mp4"))) { try file.close() }
        #expect(folder.content("out.mp4") == Array("theirs".utf8))
    }

    @Test("an MP4 replaces another at once, and leaves no other name")
    func replaces() throws {
        folder.write("out.mp4", Array("former".utf8))
        let file = try OutputFile(
            path: folder.path("out.mp4"), overwrite: true, cancellation: try #require(CancellationFlag()),
            isStaged: true)
        try file.write(Array("ours".utf8))
        #expect(folder.content("out.mp4") == Array("former".utf8))
        file.keep()
        try file.close()
        #expect(folder.content("out.mp4") == Array("ours".utf8))
        #expect(Folder.names(in: folder.path("")).count == 3)
    }

    // MARK: Inputs

    @Test("names the kind of an input that is not a raw stream")
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

    @Test("refuses a stream without any keyframe")
    func noKeyframe() throws {
        let stream = try CodedStream(.h264, frames: 10)
        let units = stream.units.filter { !$0.isIDR }
        folder.write("in.raw", Array(stream.units[0].allBytes.prefix(40)) + units.flatMap(\.allBytes))
        #expect(problem { _ = try remux("in.raw", to: "out.mkv") } != nil)
        #expect(folder.content("out.mkv") == nil)
    }

    @Test("the output cannot be the input, under any name")
    func sameFile() throws {
        record(try CodedStream(.h264, frames: 5), to: "in.raw")
        symlink(folder.path("in.raw"), folder.path("link.mkv"))
        let before = folder.content("in.raw")
        let remux = try Remux(folder.path("in.raw"))
        let path = folder.path("link.mkv")
        let cancellation = try #require(CancellationFlag())
        #expect(throws: RemuxError.output(OutputError(.usedTwice("an input"), output: path))) {
            try remux.write(
                to: path, format: .container(.matroska), overwrite: true, cancellation: cancellation)
        }
        #expect(folder.content("in.raw") == before)
    }

    @Test("a requested end leaves a file that plays")
    func interrupted() throws {
        record(try CodedStream(.h264), to: "in.raw")
        let remux = try Remux(folder.path("in.raw"))
        let cancellation = try #require(CancellationFlag())
        cancellation.raise()
        #expect(throws: RemuxError.interrupted(pictures: 0, of: 60)) {
            try remux.write(
                to: folder.path("out.mkv"), format: .container(.matroska), overwrite: false,
                cancellation: cancellation)
        }
    }

    @Test("remuxes damaged streams or refuses them", arguments: Codec.allCases, [0, 3])
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
