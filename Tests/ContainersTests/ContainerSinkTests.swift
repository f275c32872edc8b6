import Bitstream
import Glibc
import TestSupport
import CamSound
import Testing
import CamPlatform
@testable import Containers

/// Containers as libavformat reads them back.
@Suite struct ContainerSinkTests {
    private let folder = TemporaryFolder()

    private func sink(
        _ name: String, _ stream: CodedStream, overwrite: Bool = false,
        synchronizer: DiskSynchronizer? = nil
    ) throws -> ContainerSink {
        try ContainerSink(
            path: folder.path(name), format: #require(ContainerFormat(path: name)), overwrite: overwrite,
            stream: stream.description, cancellation: #require(CancellationFlag()), synchronizer: synchronizer
        )
    }

    private func record(_ stream: CodedStream, to name: String) throws -> ContainerContent {
        let sink = try sink(name, stream)
        for unit in stream.units { try sink.write(unit) }
        try sink.finish()
        return try #require(ContainerContent(folder.path(name)))
    }

    @Test("names the package of a missing library")
    func namesThePackage() {
        let error = OutputError(
            .noContainerLibrary(name: "libavformat.so.59", reason: "missing"), output: "out.mkv")
        #expect(
            error.description
                == "cannot create out.mkv: containers need libavformat.so.59 (missing); install libavformat59, or record a raw stream"
        )
    }

    /// Half a tick to either side.
    private func tolerance(_ format: ContainerFormat) -> Int64 { format == .matroska ? 500_001 : 5_556 }

    struct Case: CustomTestStringConvertible {
        let format: ContainerFormat
        let codec: Codec
        let bFrames: Int
        var testDescription: String { "\(codec) in \(format), \(bFrames) B pictures" }
    }

    static let cases = ContainerFormat.allCases.flatMap { format in
        Codec.allCases.flatMap { codec in
            [0, 3].map { Case(format: format, codec: codec, bFrames: $0) }
        }
    }

    // MARK: Times

    @Test("each picture has its time of capture, however irregular", arguments: cases)
    func times(_ kind: Case) throws {
        // Low light halves the rate, then two pictures are lost, and the camera's clock jitters.
        let capture = { (number: Int) -> Int64 in
            let base: Int64 =
                number < 20 ? Int64(number) * 33_333_333 : 666_666_660 + Int64(number - 20) * 66_666_667
            return 987_654_321_000 + base + (number >= 40 ? 66_666_667 * 2 : 0)
                + Int64(number * 7919 % 3_000_000)
        }
        let stream = try CodedStream(kind.codec, bFrames: kind.bFrames, timestamps: capture)
        let content = try record(stream, to: "out.\(kind.format.rawValue)")
        #expect(content.packets.count == stream.units.count)
        for (time, unit) in zip(content.times, stream.units) {
            #expect(abs(time - (unit.timestamp.nanoseconds - capture(0))) <= tolerance(kind.format))
        }
        #expect(content.packets.map(\.isKey) == stream.units.map(\.isIDR))
    }

    @Test("decoding times increase strictly, and no picture is presented before decoding", arguments: cases)
    func order(_ kind: Case) throws {
        let stream = try CodedStream(kind.codec, bFrames: kind.bFrames)
        let packets = try record(stream, to: "out.\(kind.format.rawValue)").packets
        // Matroska has only presentation times; libavformat makes up the others if it can.
        guard kind.format != .matroska else { return }
        for (packet, next) in zip(packets, packets.dropFirst()) { #expect(packet.decoding < next.decoding) }
        for packet in packets { #expect(packet.decoding <= packet.presentation) }
    }

    @Test("the first picture is at time 0 in Matroska and MP4", arguments: cases)
    func beginning(_ kind: Case) throws {
        guard kind.format != .transportStream else { return }
        let stream = try CodedStream(kind.codec, bFrames: kind.bFrames) {
            5_000_000_000 + Int64($0) * 40_000_000
        }
        let content = try record(stream, to: "out.\(kind.format.rawValue)")
        #expect(content.packets.first?.presentation == 0)
    }

    // MARK: Form

    @Test("Matroska and MP4 have length-prefixed units and a configuration record", arguments: cases)
    func lengthPrefixed(_ kind: Case) throws {
        guard kind.format != .transportStream else { return }
        let stream = try CodedStream(kind.codec, bFrames: kind.bFrames)
        let content = try record(stream, to: "out.\(kind.format.rawValue)")
        // configurationVersion; Annex B would begin with zeros.
        #expect(content.extradata.first == 1)
        for (packet, unit) in zip(content.packets, stream.units) {
            let units = lengthPrefixedUnits(packet.bytes)
            // The parameter sets are in the record, and nowhere else.
            let pictures = unit.units.filter { !$0.header.isParameterSet }
            let isEqual = units == pictures.map { Array(unit.allBytes[$0.bytes]) }
            #expect(isEqual)
        }
        if kind.format == .mp4 {
            let name = kind.codec == .h264 ? "avc1" : "hvc1"
            #expect(withUnsafeBytes(of: content.container.tag) { Array($0) } == Array(name.utf8))
        }
    }

    @Test("a transport stream has Annex B, each picture after its delimiter", arguments: Codec.allCases)
    func annexB(codec: Codec) throws {
        let stream = try CodedStream(codec)
        let content = try record(stream, to: "out.ts")
        for (packet, unit) in zip(content.packets, stream.units) {
            // The first zero of the next start code may count as the end of this picture.
            let isWhole = packet.bytes.contains(unit.allBytes.dropFirst())
            #expect(isWhole)
            let delimiter: [UInt8] = codec == .h264 ? [0, 0, 1, 9] : [0, 0, 1, 70]
            #expect(packet.bytes.prefix(5).contains(delimiter))
        }
    }

    @Test("size, colour and the encoder's name are in the container", arguments: Codec.allCases)
    func description(codec: Codec) throws {
        let content = try record(CodedStream(codec), to: "out.mkv")
        #expect(content.container.width == 64)
        #expect(content.container.height == 48)
        #expect(content.container.color_primaries == 1)
        #expect(content.container.color_transfer == 13)
        #expect(content.container.color_matrix == 6)
        #expect(content.container.color_range == 2)
        #expect(content.encoder == "camrec libx26x")
    }

    @Test("Matroska and MP4 have the pixel aspect", arguments: ["out.mkv", "out.mp4"])
    func pixelAspect(name: String) throws {
        var stream = try CodedStream(.h264)
        #expect(try record(stream, to: "square.\(name)").container.aspect_width <= 1)
        stream.pixelAspect = .init(10, 11)
        let container = try record(stream, to: name).container
        // Matroska has the picture's shape in whole pixels.
        let ratio = Double(container.aspect_width) / Double(container.aspect_height)
        #expect(abs(ratio - 10.0 / 11) < 0.02)
    }

    private func lengthPrefixedUnits(_ bytes: [UInt8]) -> [[UInt8]] {
        var (units, rest): ([[UInt8]], ArraySlice<UInt8>) = ([], bytes[...])
        while rest.count >= 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            units.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return units
    }

    // MARK: Ends

    @Test("a file cut off at any byte plays up to its last cluster or fragment", arguments: cases)
    func cut(_ kind: Case) throws {
        let stream = try CodedStream(kind.codec, keyframeInterval: 10, bFrames: kind.bFrames)
        let name = "out.\(kind.format.rawValue)"
        let whole = try record(stream, to: name)
        let bytes = try #require(folder.content(name))
        var most = 0
        for length in stride(from: bytes.count - 1, to: 0, by: -max(1, bytes.count / 97)) {
            folder.write("cut", kind.format == .mp4 ? cutFragments(bytes, length) : Array(bytes[..<length]))
            guard let content = ContainerContent(folder.path("cut")) else {
                // Nothing at all, only if not even the first second is there.
                #expect(length < bytes.count / 3)
                continue
            }
            // The last packet may be cut; everything before it is unchanged.
            let kept = content.packets.dropLast()
            let isEqual = kept.elementsEqual(whole.packets.prefix(kept.count))
            #expect(isEqual, "cut at \(length) of \(bytes.count)")
            most = max(most, kept.count)
        }
        #expect(most >= 49, "\(most) packets at most")
    }

    /// The beginning of an MP4 as it was at that length: its last fragment has no type before it is complete.
    private func cutFragments(_ bytes: [UInt8], _ length: Int) -> [UInt8] {
        var cut = Array(bytes[..<length])
        var position = 0
        while position + 8 <= length {
            let fragment = mp4Boxes(Array(bytes[position...]))
            position += fragment[0].size
            guard fragment.count > 1, fragment[0].type == "moof", position + fragment[1].size > length else {
                continue
            }
            cut.replaceSubrange(
                position - fragment[0].size + 4..<position - fragment[0].size + 8, with: "free".utf8)
        }
        return cut
    }

    @Test("a file without an end plays up to the last second", arguments: cases)
    func killed(_ kind: Case) throws {
        let stream = try CodedStream(kind.codec, keyframeInterval: 10, bFrames: kind.bFrames)
        let name = "out.\(kind.format.rawValue)"
        let sink = try sink(name, stream)
        for unit in stream.units.prefix(57) { try sink.write(unit) }
        let content = try #require(ContainerContent(folder.path(name)))
        // Thirty pictures are a second.
        #expect(content.packets.count >= 27)
        try sink.finish()
        #expect(try #require(ContainerContent(folder.path(name))).packets.count == 57)
    }

    @Test(
        "even within its first second, if the disk should have it earlier",
        arguments: ContainerFormat.allCases)
    func killedEarly(format: ContainerFormat) throws {
        let stream = try CodedStream(.h264, frames: 30, keyframeInterval: 30)
        let name = "out.\(format.rawValue)"
        let synchronizer = try #require(DiskSynchronizer(bound: .milliseconds(200)))
        let sink = try sink(name, stream, synchronizer: synchronizer)
        for unit in stream.units.prefix(20) { try sink.write(unit) }
        // Three pictures are a tenth of a second, and the last waits for its duration.
        #expect(try #require(ContainerContent(folder.path(name))).packets.count >= 15)
        try sink.finish()
        #expect(try #require(ContainerContent(folder.path(name))).packets.count == 20)
    }

    @Test("an MP4 consists of fragments, one per keyframe")
    func fragments() throws {
        let stream = try CodedStream(.h264)
        _ = try record(stream, to: "out.mp4")
        let boxes = try mp4Boxes(#require(folder.content("out.mp4"))).map(\.type)
        #expect(boxes.prefix(2) == ["ftyp", "moov"])
        #expect(boxes.count { $0 == "moof" } == stream.units.count { $0.isIDR })
    }

    @Test(
        "distant pictures and rare keyframes still reach the file every second",
        arguments: ContainerFormat.allCases)
    func rareKeyframes(format: ContainerFormat) throws {
        let stream = try CodedStream(.h264, frames: 30, keyframeInterval: 30) { Int64($0) * 200_000_000 }
        let sink = try sink("out.\(format.rawValue)", stream)
        for unit in stream.units { try sink.write(unit) }
        let content = try #require(ContainerContent(folder.path("out.\(format.rawValue)")))
        #expect(content.packets.count >= 24)
        try sink.finish()
    }

    private func mp4Boxes(_ bytes: [UInt8]) -> [(type: String, size: Int)] {
        var (boxes, position): ([(String, Int)], Int) = ([], 0)
        while position + 8 <= bytes.count {
            let size = max(8, bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) })
            boxes.append((String(decoding: bytes[position + 4..<position + 8], as: UTF8.self), size))
            position += size
        }
        return boxes
    }

    // MARK: Files

    @Test("refuses an existing file, and replaces it only when data comes")
    func exists() throws {
        let stream = try CodedStream(.h264, frames: 5)
        folder.write("out.mkv", [1, 2, 3])
        #expect(throws: OutputError(.exists, output: folder.path("out.mkv"))) {
            _ = try sink("out.mkv", stream)
        }
        do { try sink("out.mkv", stream, overwrite: true).finish() }
        #expect(folder.content("out.mkv") == [1, 2, 3])
        let replacing = try sink("out.mkv", stream, overwrite: true)
        for unit in stream.units { try replacing.write(unit) }
        try replacing.finish()
        #expect(ContainerContent(folder.path("out.mkv"))?.packets.count == 5)
    }

    @Test("removes a new file without any picture", arguments: ContainerFormat.allCases)
    func empty(format: ContainerFormat) throws {
        let stream = try CodedStream(.h264, frames: 5)
        do { try sink("out.\(format.rawValue)", stream).finish() }
        #expect(folder.content("out.\(format.rawValue)") == nil)
    }

    @Test("a single picture is a recording", arguments: ContainerFormat.allCases)
    func single(format: ContainerFormat) throws {
        let content = try record(CodedStream(.h264, frames: 1), to: "out.\(format.rawValue)")
        #expect(content.packets.count == 1)
    }

    @Test("a full disk leaves a file that plays", arguments: ContainerFormat.allCases)
    func fullDisk(format: ContainerFormat) throws {
        let small = try SmallFileSystem(bytes: 32 << 10)
        let stream = try CodedStream(.h264, frames: 400)
        let path = "\(small.path)/out.\(format.rawValue)"
        let sink = try ContainerSink(
            path: path, format: format, overwrite: false, stream: stream.description,
            cancellation: #require(CancellationFlag()))
        var failure: OutputError?
        do {
            for unit in stream.units { try sink.write(unit) }
            try sink.finish()
        } catch { failure = error }
        #expect(failure == OutputError(.diskFull, output: path))
        let content = try #require(ContainerContent(path))
        #expect(content.packets.count > 30)
        #expect(contentOfFile(path)?.count == sink.bytesWritten)
    }

    @Test("reports a full device", arguments: ContainerFormat.allCases)
    func fullDevice(format: ContainerFormat) throws {
        let stream = try CodedStream(.h264)
        let sink = try ContainerSink(
            path: "/dev/full", format: format, overwrite: false, stream: stream.description,
            cancellation: #require(CancellationFlag()))
        #expect(throws: OutputError(.diskFull, output: "/dev/full")) {
            for unit in stream.units { try sink.write(unit) }
            try sink.finish()
        }
    }

    private static let sound = SoundDescription(
        codec: .aac, format: SoundFormat(rate: 48_000, channels: 1), configuration: [0x11, 0x88],
        packetFrames: 1024)

    @Test("an MP4 without the sound that it waits for is written once there will be none")
    func silentMP4() throws {
        let stream = try CodedStream(.h264, frames: 90)
        var description = stream.description
        description.sound = Self.sound
        let sink = try ContainerSink(
            path: folder.path("a.mp4"), format: .mp4, overwrite: false, stream: description,
            cancellation: #require(CancellationFlag()))
        for unit in stream.units[..<60] { try sink.write(unit) }
        #expect(sink.bytesWritten == 0, "libavformat waits")
        try sink.endSound()
        #expect(sink.bytesWritten > 0)
        for unit in stream.units[60...] { try sink.write(unit) }
        let before = sink.bytesWritten
        try sink.finish()
        #expect(before > 0 && sink.bytesWritten > before)
        #expect(ContainerContent(folder.path("a.mp4"), streams: 2)?.packets.count == 90)
    }

    @Test("sound keeps its time, and what is for a time that has its sound is left out")
    func soundTicks() {
        var ticks = SoundTicks(ticksPerSecond: 48_000)
        #expect(ticks.ticks(.zero) == 0)
        #expect(ticks.ticks(.nanoseconds(21_333_333)) == 1024)
        #expect(ticks.ticks(.milliseconds(10)) == nil)
        #expect(ticks.ticks(.nanoseconds(42_666_666)) == 2048)
    }

    @Test("a pipe takes a container without seeking back", arguments: ContainerFormat.allCases)
    func pipe(format: ContainerFormat) throws {
        let stream = try CodedStream(.h264, frames: 20)
        mkfifo(folder.path("pipe"), 0o600)
        let reader = open(folder.path("pipe"), O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let sink = try ContainerSink(
            path: folder.path("pipe"), format: format, overwrite: false, stream: stream.description,
            cancellation: #require(CancellationFlag()))
        for unit in stream.units { try sink.write(unit) }
        try sink.finish()
        folder.write("copy", readAll(reader, count: .max))
        #expect(ContainerContent(folder.path("copy"))?.packets.count == 20)
    }

    @Test("treats names that look like protocols as files")
    func protocols() throws {
        let stream = try CodedStream(.h264, frames: 5)
        #expect(try record(stream, to: "http:x.mkv").packets.count == 5)
    }

    @Test(
        "writes changed parameter sets before their picture",
        arguments: ContainerFormat.allCases)
    func changedParameterSets(format: ContainerFormat) throws {
        let first = try CodedStream(.h264, frames: 10)
        let second = try CodedStream(.h264, frames: 10, bFrames: 2) { Int64(10 + $0) * 33_333_333 }
        try #require(first.units[0].units[0].bytes != second.units[0].units[0].bytes)
        let sink = try sink("out.\(format.rawValue)", second)
        for unit in first.units { try sink.write(unit) }
        for unit in second.units { try sink.write(unit.renumbered(by: 10)) }
        try sink.finish()
        let packets = try #require(ContainerContent(folder.path("out.\(format.rawValue)"))).packets
        #expect(packets.count == 20)
        let set = second.units[0].allBytes[second.units[0].units[0].bytes]
        let isThere = packets.first { $0.bytes.contains(set) }?.isKey
        #expect(isThere == true)
    }
}

@Suite struct ContainerFormatTests {
    @Test(
        "the extension selects the format",
        arguments: [
            ("out.mkv", .matroska), ("a.b/out.MP4", .mp4), ("/tmp/x.y.ts", .transportStream),
            (".mkv", .matroska),
            ("out", nil), ("out.h264", nil), ("mkv", nil), ("-", nil), ("", nil), ("out.mkv/", nil),
            ("out.mov", nil),
        ] as [(String, ContainerFormat?)])
    func format(path: String, format: ContainerFormat?) { #expect(ContainerFormat(path: path) == format) }
}
