import Bitstream
import Glibc
import TestSupport
import Testing
import CamPlatform
@testable import Containers

/// Reading back what was written to a container.
@Suite struct ContainerReaderTests {
    private let folder = TemporaryFolder()

    struct Case: CustomTestStringConvertible {
        let codec: Codec
        let bFrames: Int
        let format: ContainerFormat
        var testDescription: String { "\(codec) with \(bFrames) B pictures in \(format)" }
    }

    static let cases = Codec.allCases.flatMap { codec in
        [0, 3].flatMap { bFrames in
            ContainerFormat.allCases.map { Case(codec: codec, bFrames: bFrames, format: $0) }
        }
    }

    /// Times with a gap, in nanoseconds: whole milliseconds, which every container can represent.
    private static func time(_ number: Int) -> Int64 {
        (Int64(number) * 33 + (number > 20 ? 700 : 0)) * 1_000_000
    }

    private func write(_ stream: CodedStream, _ format: ContainerFormat) throws -> String {
        let path = folder.path("in.\(format.rawValue)")
        let sink = try ContainerSink(
            path: path, format: format, overwrite: true, stream: stream.description,
            cancellation: try #require(CancellationFlag()))
        for unit in stream.units { try sink.write(unit) }
        try sink.finish()
        return path
    }

    private func packets(_ reader: ContainerReader) throws -> [(
        packet: ContainerReader.Packet, bytes: [UInt8]
    )] {
        var packets: [(ContainerReader.Packet, [UInt8])] = []
        while let packet = try reader.next() { packets.append((packet, reader.bytes)) }
        return packets
    }

    @Test("every access unit has its parameter sets and its time", arguments: cases)
    func roundTrip(_ kind: Case) throws {
        let stream = try CodedStream(kind.codec, bFrames: kind.bFrames, timestamps: Self.time)
        let reader = try ContainerReader(path: try write(stream, kind.format))
        #expect(reader.codec == kind.codec)
        let found = try packets(reader)
        try #require(found.count == stream.units.count)
        for ((packet, bytes), unit) in zip(found, stream.units) {
            // A transport stream must have delimiters.
            let delimiter = bytes.count - unit.count
            #expect(bytes.suffix(unit.count).elementsEqual(unit.allBytes))
            #expect(delimiter == 0 || kind.format == .transportStream && (6...7).contains(delimiter))
            #expect(packet.time == unit.timestamp - .start)
            #expect(packet.isKeyframe == unit.isIDR)
            #expect(packet.problem == nil)
        }
    }

    @Test("seeking finds a keyframe at or before the time", arguments: cases)
    func seeking(_ kind: Case) throws {
        let stream = try CodedStream(
            kind.codec, frames: 300, bFrames: kind.bFrames, timestamps: { Int64($0) * 40_000_000 })
        let reader = try ContainerReader(path: try write(stream, kind.format))
        for second in [5, 0, 11, 3, 500, 0] {
            let wanted = Duration.seconds(second)
            try reader.seek(to: wanted)
            let packet = try #require(try reader.next())
            #expect(packet.isKeyframe)
            let keyframe = stream.units.filter(\.isIDR).map { $0.timestamp - .start }
                .filter { $0 <= wanted }.max()
            let (found, newest) = try (#require(packet.time), #require(keyframe))
            #expect(found <= newest)
            if kind.format == .transportStream {
                // It has no index: libavformat searches, and starts from the beginning for a time beyond the
                // end.
                #expect(newest - found <= .seconds(2) || second == 500)
            } else {
                #expect(found == newest)
            }
        }
    }

    @Test(
        "a file cut off anywhere ends, or is refused in one line", arguments: ContainerFormat.allCases
    )
    func truncated(format: ContainerFormat) throws {
        let stream = try CodedStream(.h264)
        let whole = try #require(contentOfFile(try write(stream, format)))
        var most = 0
        for count in stride(from: 0, to: whole.count, by: 512) {
            let path = folder.path("cut")
            folder.write("cut", Array(whole[..<count]))
            do {
                let reader = try ContainerReader(path: path)
                let found = try packets(reader)
                let whole = found.filter { $0.packet.isPicture && $0.packet.problem == nil }
                // The last one may be cut, too.
                for ((_, bytes), unit) in zip(whole.dropLast(), stream.units) {
                    #expect(bytes.suffix(unit.count).elementsEqual(unit.allBytes), "cut at \(count)")
                }
                most = max(most, found.count)
                try reader.seek(to: .seconds(1))
                _ = try reader.next()
            } catch {
                #expect(!"\(error)".contains("\n"))
            }
        }
        #expect((50...60).contains(most))
    }

    @Test("reads concatenated transport streams completely, without damage", arguments: Codec.allCases)
    func joinedTransportStreams(codec: Codec) throws {
        let stream = try CodedStream(codec)
        let file = try #require(contentOfFile(try write(stream, .transportStream)))
        folder.write("joined", file + file + file)
        let found = try packets(try ContainerReader(path: folder.path("joined")))
        #expect(found.count == 3 * stream.units.count)
        #expect(found.allSatisfy { $0.packet.problem == nil })
    }

    @Test(
        "transport streams of one recording continue its times, and joined they are what one file would be",
        arguments: [0, 3])
    func continuedTransportStreams(bFrames: Int) throws {
        let stream = try CodedStream(.h264, bFrames: bFrames, timestamps: Self.time)
        let cut = try #require(stream.units.indices.dropFirst(5).first { stream.units[$0].isIDR })
        var description = stream.description
        let sound = try CodedSound(.aac, start: stream.units[0].timestamp, seconds: 2)
        description.sound = sound.description
        func write(_ name: String, _ units: ArraySlice<AccessUnit>, _ clock: SharedPacketClock?) throws
            -> [UInt8]
        {
            let path = folder.path(name)
            let sink = try ContainerSink(
                path: path, format: .transportStream, overwrite: true, stream: description,
                cancellation: try #require(CancellationFlag()), sharedClock: clock)
            let end = units.endIndex < stream.units.endIndex ? stream.units[units.endIndex].timestamp : nil
            var packets = sound.packets[...]
            if units.startIndex > 0 {
                packets = packets.drop { $0.timestamp < units[units.startIndex].timestamp }
            }
            for unit in units {
                while let packet = packets.first, packet.timestamp <= unit.timestamp {
                    try sink.write(packet)
                    packets.removeFirst()
                }
                try sink.write(unit)
            }
            while let packet = packets.first, packet.timestamp < end ?? packet.timestamp {
                try sink.write(packet)
                packets.removeFirst()
            }
            try sink.finish()
            return try #require(contentOfFile(path))
        }
        let clock = SharedPacketClock()
        let joined =
            try write("a.ts", stream.units[..<cut], clock) + write("b.ts", stream.units[cut...], clock)
        folder.write("joined", joined)
        _ = try write("whole.ts", stream.units[...], nil)
        func times(_ name: String) throws -> (pictures: [Duration?], sound: [Instant]) {
            let reader = try ContainerReader(path: folder.path(name), takesSound: true)
            let found = try packets(reader)
            #expect(found.allSatisfy { $0.packet.problem == nil })
            return (
                found.filter(\.packet.isPicture).map(\.packet.time),
                found.compactMap { $0.packet.sound?.timestamp }
            )
        }
        let (whole, parts) = (try times("whole.ts"), try times("joined"))
        #expect(parts.pictures == whole.pictures)
        #expect(parts.sound.count >= whole.sound.count - 1)
        for (one, other) in zip(parts.sound.sorted(), parts.sound.sorted().dropFirst()) {
            #expect((.milliseconds(15)...Duration.milliseconds(50)).contains(other - one))
        }
    }

    @Test(
        "reads two joined Matroska files without a word, and reports the third, which libavformat does not read"
    )
    func joinedMatroska() throws {
        let stream = try CodedStream(.h264)
        let file = try #require(contentOfFile(try write(stream, .matroska)))
        for count in 1...3 {
            folder.write("joined", Array((0..<count).map { _ in file }.joined()))
            let found = try packets(try ContainerReader(path: folder.path("joined")))
            let pictureCount = found.count { $0.packet.isPicture }
            let problems = found.compactMap(\.packet.problem)
            #expect(pictureCount == count * stream.units.count || !problems.isEmpty)
            #expect(
                problems.contains { $0.contains("another file follows at byte \(2 * file.count)") }
                    == (count > 2))
            #expect(problems.count == (count > 2 ? 1 : 0), "\(problems)")
        }
    }

    @Test("reads joined MP4 files, and hides none of their pictures", arguments: [0, 3])
    func joinedMP4(bFrames: Int) throws {
        let stream = try CodedStream(.h264, bFrames: bFrames, timestamps: Self.time)
        let file = try #require(contentOfFile(try write(stream, .mp4)))
        folder.write("joined", file + file)
        let found = try packets(try ContainerReader(path: folder.path("joined")))
        #expect(found.compactMap(\.packet.problem) == [])
        #expect(found.count == 2 * stream.units.count)
        #expect(found.allSatisfy { !$0.packet.isHidden })
        #expect(found.prefix(60).map(\.packet.time) == found.suffix(60).map(\.packet.time))
    }

    @Test(
        "reports a file cut off within a picture", arguments: ContainerFormat.allCases)
    func brokenOff(format: ContainerFormat) throws {
        let stream = try CodedStream(.h264)
        let whole = try #require(contentOfFile(try write(stream, format)))
        var toldCount = 0
        // No whole packets of a transport stream, though some lengths are those of whole packets with a time.
        let counts =
            Array(stride(from: whole.count / 4 | 1, to: whole.count, by: 502))
            + stride(from: whole.count / 4 / 192 * 192, to: whole.count, by: 192).filter { $0 % 188 != 0 }
        for count in counts {
            folder.write("cut", Array(whole[..<count]))
            // Some containers cannot be read at all without their end.
            guard let reader = try? ContainerReader(path: folder.path("cut")) else { continue }
            do throws(InputError) {
                var (last, pictureCount): (ContainerReader.Packet?, Int) = (nil, 0)
                while let packet = try reader.next() {
                    last = packet
                    guard packet.isPicture else { continue }
                    let unit = stream.units[pictureCount]
                    #expect(
                        packet.problem != nil || reader.bytes.suffix(unit.count).elementsEqual(unit.allBytes),
                        "cut at \(count) of \(whole.count): picture \(pictureCount) has a part only")
                    pictureCount += 1
                }
                // An index may follow the last picture.
                #expect(
                    last?.problem != nil || pictureCount == stream.units.count,
                    "cut at \(count) of \(whole.count)")
            } catch {
                #expect(error.kind != .interrupted)
            }
            toldCount += 1
        }
        #expect(toldCount > 10)
    }

    @Test(
        "zeros that a power cut left at the end are no part of a picture, and all before them is there",
        arguments: ContainerFormat.allCases)
    func unwritten(format: ContainerFormat) throws {
        #expect(try countBeforeZeros(format, block: 4096, step: 202) > 1000)
    }

    @Test(
        "zeros in a block as large as a page of another machine are no part of a picture either",
        arguments: ContainerFormat.allCases, [16_384, 65_536])
    func unwrittenLargeBlock(format: ContainerFormat, block: Int) throws {
        #expect(try countBeforeZeros(format, block: block, step: 2020) > 0)
    }

    /// Cuts a file at many places, and replaces the rest of the block there with zeros.
    /// - Returns: the whole pictures before the cuts, all together.
    private func countBeforeZeros(_ format: ContainerFormat, block: Int, step: Int) throws -> Int {
        let stream = try CodedStream(.h264)
        let whole = try #require(contentOfFile(try write(stream, format)))
        var wholeCount = 0
        for count in stride(from: whole.count / 4, to: whole.count, by: step) {
            // As many as the block has room for; of a transport stream, up to where a packet would end.
            let end = min(whole.count - 1, (count - 1) / block * block + block)
            let zeroCount = (format == .transportStream ? end / 188 * 188 : end) - count
            // Zeros within the last packet may be what somebody wrote.
            let fewest = format == .transportStream ? 188 : 16
            guard zeroCount >= fewest, let cut = try wholePictures(whole[..<count], of: stream) else {
                continue
            }
            let zeros = [UInt8](repeating: 0, count: zeroCount)
            let found = try wholePictures(whole[..<count] + zeros, of: stream)
            // Where a packet ends, only the zeros tell that more should follow.
            let least = format == .transportStream && count % 188 == 0 ? cut - 1 : cut
            #expect(
                try (least...cut).contains(#require(found)),
                "\(zeroCount) zeros at \(count) of \(whole.count)")
            wholeCount += cut
        }
        return wholeCount
    }

    /// How many pictures of a file are read without a problem, and are those of the stream; nil if it cannot be opened.
    private func wholePictures(_ bytes: some Sequence<UInt8>, of stream: CodedStream) throws -> Int? {
        folder.write("bytes", Array(bytes))
        guard let reader = try? ContainerReader(path: folder.path("bytes")) else { return nil }
        let found = try packets(reader).filter(\.packet.isPicture)
        return zip(found, stream.units).filter { found, unit in
            let isWhole = found.bytes.suffix(unit.count).elementsEqual(unit.allBytes)
            #expect(isWhole || found.packet.problem != nil)
            return found.packet.problem == nil
        }.count
    }

    @Test("an MP4 whose last samples lie far beyond the zeros at its end is read up to them")
    func unwrittenSamples() throws {
        let stream = try CodedStream(.h264)
        var bytes = try #require(contentOfFile(try write(stream, .mp4)))
        // The last fragment's samples (ISO/IEC 14496-12, 8.1.1 and 8.8.8): a megabyte, of which the first has 300 kB.
        let samples = try #require(lastPlace(of: "mdat", in: bytes))
        let run = try #require(lastPlace(of: "trun", in: bytes))
        // What the run has: its data's offset and its samples' sizes, and maybe flags of the first one and durations.
        let flags = Int(bytes[run + 6]) << 8 | Int(bytes[run + 7])
        try #require(flags & 0x201 == 0x201)
        let firstSize = run + 16 + (flags & 0x4 != 0 ? 4 : 0) + (flags & 0x100 != 0 ? 4 : 0)
        bytes.replaceSubrange(firstSize..<(firstSize + 4), with: bigEndian(300_000))
        bytes.replaceSubrange((samples - 4)..<samples, with: bigEndian(1 << 20))
        let written = bytes[..<(samples + 100)]
        let count = try #require(try wholePictures(written, of: stream))
        #expect(try wholePictures(written + [UInt8](repeating: 0, count: 20), of: stream) == count)
        #expect((10..<stream.units.count).contains(count))
    }

    @Test("an MP4 that ends with a fragment whose last samples are zeros has a damaged picture there")
    func unwrittenFragment() throws {
        let stream = try CodedStream(.h264)
        let whole = try #require(contentOfFile(try write(stream, .mp4)))
        // As it is before the recording ends: the last fragment is the end.
        let index = try #require(lastPlace(of: "mfra", in: whole)) - 4
        let written = whole[..<index]
        #expect(try wholePictures(written, of: stream) == stream.units.count)
        let unwritten = written.dropLast(40) + [UInt8](repeating: 0, count: 40)
        let count = try #require(try wholePictures(unwritten, of: stream))
        #expect((10..<stream.units.count).contains(count))
    }

    private func lastPlace(of kind: String, in bytes: [UInt8]) -> Int? {
        bytes.indices.last { bytes[$0...].prefix(4).elementsEqual(kind.utf8) }
    }

    private func bigEndian(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    @Test("a file that grows beyond zeros is read to its new end")
    func grownBeyondZeros() throws {
        let stream = try CodedStream(.h264)
        let whole = try #require(contentOfFile(try write(stream, .transportStream)))
        let path = folder.path("grown")
        // Not at a packet's end, where nothing would be missing.
        folder.write("grown", whole[..<(whole.count / 2 / 188 * 188 + 20)] + [UInt8](repeating: 0, count: 32))
        let reader = try ContainerReader(path: path)
        folder.write("grown", whole)
        #expect(try packets(reader).filter(\.packet.isPicture).count == stream.units.count)
    }

    @Test("missing bytes are reported where they are missing", arguments: ContainerFormat.allCases)
    func lacking(format: ContainerFormat) throws {
        var bytes = try #require(contentOfFile(try write(try CodedStream(.h264, bFrames: 3), format)))
        bytes.removeSubrange(bytes.count / 2..<bytes.count / 2 + 940)
        folder.write("lacking", bytes)
        guard let reader = try? ContainerReader(path: folder.path("lacking")) else {
            // Its end says where everything is.
            #expect(format == .mp4)
            return
        }
        let found = try packets(reader)
        #expect(found.contains { $0.packet.problem != nil })
        #expect(found.filter { !$0.packet.isPicture }.allSatisfy { $0.bytes.isEmpty })
    }

    @Test("reports a file truncated while it is read", arguments: ContainerFormat.allCases)
    func cutUnderWay(format: ContainerFormat) throws {
        let path = try write(try CodedStream(.h264, frames: 2700), format)
        let length = try #require(contentOfFile(path)).count
        // libavformat has read some of it ahead.
        try #require(length > 4 * Int(ContainerInput.bufferSize))
        let reader = try ContainerReader(path: path)
        _ = try reader.next()
        truncate(path, length / 188 / 2 * 188)
        #expect(throws: InputError(.shrunk, input: path)) { _ = try packets(reader) }
    }

    @Test(
        "damaged files end, or are refused in one line", arguments: ContainerFormat.allCases, Codec.allCases)
    func damaged(format: ContainerFormat, codec: Codec) throws {
        let whole = try #require(contentOfFile(try write(try CodedStream(codec, bFrames: 3), format)))
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...20, using: &generator) {
                // Most of what can go wrong is in the first bytes.
                let end = Bool.random(using: &generator) ? min(2000, bytes.count) : bytes.count
                bytes[Int.random(in: 0..<end, using: &generator)] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            }
            folder.write("damaged", bytes)
            do {
                let reader = try ContainerReader(path: folder.path("damaged"))
                _ = try packets(reader)
                try reader.seek(to: .seconds(1))
                _ = try reader.next()
            } catch {
                #expect(!"\(error)".contains("\n"))
            }
        }
    }

    @Test("gives up on an endless file")
    func endless() throws {
        let whole = try #require(contentOfFile(try write(try CodedStream(.h264), .matroska)))
        folder.write("long", Array(whole[..<2000]))
        // A hole reads as zeros.
        truncate(folder.path("long"), 1 << 40)
        let reader = try ContainerReader(path: folder.path("long"))
        #expect(throws: InputError.self) { _ = try packets(reader) }
    }

    @Test("refuses a pipe without waiting for its writer")
    func pipe() {
        mkfifo(folder.path("pipe"), 0o600)
        #expect(throws: InputError(.notAFile, input: folder.path("pipe"))) {
            _ = try ContainerReader(path: folder.path("pipe"))
        }
    }

    @Test("a cancellation ends reading")
    func interrupted() throws {
        let path = try write(try CodedStream(.h264), .matroska)
        let cancellation = try #require(CancellationFlag())
        let reader = try ContainerReader(path: path, cancellation: cancellation)
        cancellation.raise()
        // What libavformat has read ahead may still come.
        #expect(throws: InputError(.interrupted, input: path)) {
            while try reader.next() != nil {}
            try reader.rewind()
        }
    }
}
