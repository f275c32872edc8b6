import Bitstream
import Glibc
import CamPictures
import CamSound
import TestSupport
import Testing
import CamPlatform
@testable import Containers

/// Reading containers with sound, and remuxing them.
@Suite struct RemuxSoundTests {
    private let folder = TemporaryFolder()

    struct Case: CustomTestStringConvertible {
        let codec: SoundCodec
        let source, target: ContainerFormat
        var testDescription: String { "\(codec.name) from \(source) to \(target)" }
    }

    static let cases = SoundCodec.allCases.flatMap { codec in
        ContainerFormat.allCases.filter { $0.takes(codec) }.flatMap { source in
            ContainerFormat.allCases.filter { $0.takes(codec) }.map {
                Case(codec: codec, source: source, target: $0)
            }
        }
    }

    /// Pictures 1/30 s apart, with sound that begins a little earlier.
    private func record(
        _ codec: SoundCodec, _ format: ContainerFormat, pictures: CodedStream, seconds: Int = 2
    ) throws -> [SoundPacket] {
        let sound = try CodedSound(codec, start: .start + .milliseconds(-10), seconds: seconds)
        var description = pictures.description
        description.sound = sound.description
        let sink = try ContainerSink(
            path: folder.path("in.\(format.rawValue)"), format: format, overwrite: true, stream: description,
            cancellation: #require(CancellationFlag()), isFinished: true)
        var rest = sound.packets[...]
        for unit in pictures.units {
            while let next = rest.first, next.timestamp < unit.timestamp {
                try sink.write(rest.removeFirst())
            }
            try sink.write(unit)
        }
        while let next = rest.popFirst() { try sink.write(next) }
        try sink.finish()
        return sound.packets.filter { $0.timestamp >= .start }
    }

    private func remux(_ input: String, range: RemuxRange = RemuxRange(), to output: String) throws -> Remux {
        let remux = try Remux(folder.path(input), range: range)
        try remux.write(
            to: folder.path(output), format: #require(RemuxFormat(path: output)), overwrite: true,
            cancellation: #require(CancellationFlag()))
        return remux
    }

    private func sounds(in name: String) throws -> [SoundPacket] {
        try content(of: ContainerReader(path: folder.path(name), takesSound: true)).sounds
    }

    /// The times of the pictures, and the sound.
    private func content(of reader: ContainerReader) throws -> (times: [Duration], sounds: [SoundPacket]) {
        var (times, sounds) = ([Duration](), [SoundPacket]())
        while let packet = try reader.next() {
            if let sound = packet.sound { sounds.append(sound) }
            if packet.isPicture, let time = packet.time { times.append(time) }
        }
        return (times, sounds)
    }

    @Test("sound is copied, packet for packet, at its time", arguments: cases)
    func copies(_ kind: Case) throws {
        let pictures = try CodedStream(.h264, frames: 60) { Int64($0) * 33_333_333 }
        let written = try record(kind.codec, kind.source, pictures: pictures)
        let output = "out.\(kind.target.rawValue)"
        let remux = try remux("in.\(kind.source.rawValue)", to: output)
        #expect(remux.pictureCount == 60)
        #expect(remux.remarks(for: .container(kind.target)) == [])
        #expect(remux.description.sound?.codec == kind.codec)
        #expect(remux.description.sound?.format == SoundFormat(rate: 48_000, channels: 2))
        let copied = try sounds(in: output)
        try #require(copied.count == written.count)
        for (copy, original) in zip(copied, written) {
            #expect(copy.allBytes == original.allBytes)
            #expect((copy.timestamp - original.timestamp).magnitude <= .microseconds(1_100))
            #expect(copy.duration == original.duration)
        }
        // What Matroska rounds to milliseconds is even again.
        for (one, next) in zip(copied, copied.dropFirst()) {
            #expect((next.timestamp - one.end).magnitude <= .nanoseconds(2))
        }
    }

    @Test("a part has the sound of its pictures", arguments: ContainerFormat.allCases)
    func part(format: ContainerFormat) throws {
        let pictures = try CodedStream(.h264, frames: 60, keyframeInterval: 15) { Int64($0) * 33_333_333 }
        let written = try record(.aac, format, pictures: pictures)
        let range = RemuxRange(start: .milliseconds(600), end: .milliseconds(1400))
        let remux = try remux("in.\(format.rawValue)", range: range, to: "part.mkv")
        // From picture 15 to before picture 45.
        #expect(remux.pictureCount == 30)
        let copied = try sounds(in: "part.mkv")
        let times = Instant.start + .milliseconds(500)..<Instant.start + .milliseconds(1500)
        let wanted = written.filter { times.contains($0.timestamp) }
        #expect(copied.map(\.allBytes) == wanted.map(\.allBytes))
        for (copy, original) in zip(copied, wanted) {
            let time = original.timestamp - times.lowerBound
            #expect((copy.timestamp - .start - time).magnitude <= .milliseconds(2))
        }
    }

    @Test("says what cannot contain the sound, and what can")
    func remarks() throws {
        _ = try record(.flac, .matroska, pictures: try CodedStream(.h264, frames: 60))
        let raw = try remux("in.mkv", to: "out.h264")
        #expect(
            raw.remarks(for: .raw(.h264)) == [
                "the sound is left out; to keep it, name the output .mkv or .mp4"
            ])
        let stream = try remux("in.mkv", to: "out.ts")
        #expect(stream.remarks(for: .container(.transportStream)) == raw.remarks(for: .raw(.h264)))
        #expect(try sounds(in: "out.ts").isEmpty)
        #expect(try ContainerReader(path: folder.path("in.mkv")).leftOut == ["sound"])
        #expect(try ContainerReader(path: folder.path("in.mkv"), takesSound: true).leftOut == [])
    }

    @Test(
        "a transport stream that ends within a picture has a damaged one, and none if it ends within sound",
        arguments: [true, false])
    func cutStream(endsInPicture: Bool) throws {
        let pictures = try CodedStream(.h264, frames: 60) { Int64($0) * 33_333_333 }
        _ = try record(.aac, .transportStream, pictures: pictures)
        let whole = try #require(folder.content("in.ts"))
        // Packets of 188 bytes, the first of a picture or of sound: a second one belongs to the same.
        let identifier = endsInPicture ? 0x100 : 0x101
        let isLong: (Int) -> Bool = { place in
            [place, place + 188].allSatisfy {
                $0 + 3 < whole.count && Int(whole[$0 + 1] & 31) << 8 | Int(whole[$0 + 2]) == identifier
            } && whole[place + 1] & 0x40 != 0 && whole[place + 189] & 0x40 == 0
        }
        let last = try #require(Array(stride(from: 0, to: whole.count, by: 188)).last(where: isLong))
        folder.write("cut.ts", Array(whole[..<(last + 188 + 100)]))
        for takesSound in [false, true] {
            let reader = try ContainerReader(path: folder.path("cut.ts"), takesSound: takesSound)
            var found: [ContainerReader.Packet] = []
            while let packet = try reader.next() { if packet.isPicture { found.append(packet) } }
            #expect(found.dropLast().allSatisfy { $0.problem == nil })
            // Who does not read the sound cannot know that the end is in it.
            if endsInPicture || takesSound { #expect((found.last?.problem != nil) == endsInPicture) }
        }
    }

    @Test(
        "of joined recordings of more than a minute all sound is there, also where it comes before its pictures",
        arguments: [SoundCodec.aac, .opus])
    func joinedLongRecordings(codec: SoundCodec) throws {
        let pictures = try CodedStream(.h264, frames: 70, keyframeInterval: 10) { Int64($0) * 1_000_000_000 }
        let written = try record(codec, .transportStream, pictures: pictures, seconds: 70)
        let file = try #require(folder.content("in.ts"))
        folder.write("joined.ts", file + file + file)
        let found = try sounds(in: "joined.ts")
        #expect(found.map(\.allBytes) == (written + written + written).map(\.allBytes))
    }

    @Test("sound with a wrong time is left out alone", arguments: [SoundCodec.aac, .opus])
    func wrongTime(codec: SoundCodec) throws {
        let pictures = try CodedStream(.h264, frames: 60) { Int64($0) * 33_333_333 }
        let written = try record(codec, .transportStream, pictures: pictures)
        var bytes = try #require(folder.content("in.ts"))
        let starts = try soundStarts(in: bytes)
        // The highest bit but one of the time (ISO/IEC 13818-1, 2.4.3.7): six hours and a half.
        bytes[starts[starts.count / 2] + 9] ^= 4
        folder.write("wrong.ts", bytes)
        let found = try sounds(in: "wrong.ts")
        let missing = written.count - found.count
        #expect((1...8).contains(missing))
        #expect(
            zip(found, found.dropFirst()).allSatisfy {
                $1.timestamp - $0.end <= .milliseconds(missing * 22)
            })
    }

    /// Where the packets of a transport stream's sound begin (ISO/IEC 13818-1, 2.4.3.6).
    private func soundStarts(in bytes: [UInt8]) throws -> [Int] {
        let starts = stride(from: 0, to: bytes.count, by: 188).filter { place in
            let flags = bytes[place + 1]
            return flags & 0x40 != 0 && Int(flags & 31) << 8 + Int(bytes[place + 2]) == 0x101
        }
        return try starts.map { start in
            let adaptation = bytes[start + 3] & 0x20 == 0 ? 0 : 1 + Int(bytes[start + 4])
            let place = start + 4 + adaptation
            try #require(bytes[place..<place + 3] == [0, 0, 1])
            return place
        }
    }

    @Test("after a seek there is the sound from there on", arguments: ContainerFormat.allCases)
    func seeks(format: ContainerFormat) throws {
        let pictures = try CodedStream(.h264, frames: 60, keyframeInterval: 15) { Int64($0) * 33_333_333 }
        let written = try record(.aac, format, pictures: pictures)
        let reader = try ContainerReader(path: folder.path("in.\(format.rawValue)"), takesSound: true)
        try reader.seek(to: .milliseconds(1200))
        let (times, sounds) = try content(of: reader)
        let (first, beginning) = (try #require(sounds.first), try #require(times.first))
        #expect(beginning <= .milliseconds(1200))
        #expect(
            (.milliseconds(-40)...Duration.milliseconds(100)).contains(first.timestamp - .start - beginning))
        #expect(sounds.map(\.allBytes) == written.suffix(sounds.count).map(\.allBytes))
        let original = try #require(written.suffix(sounds.count).first)
        #expect((first.timestamp - original.timestamp).magnitude <= .microseconds(1_100))
    }

    @Test(
        "a stream that comes once, in pieces of any size, has the pictures and sound of the file",
        arguments: [ContainerFormat.matroska, .transportStream])
    func streams(format: ContainerFormat) throws {
        let pictures = try CodedStream(.h264, frames: 60) { Int64($0) * 33_333_333 }
        let written = try record(.aac, format, pictures: pictures)
        let bytes = try #require(folder.content("in.\(format.rawValue)"))
        for size in [100, 1460, 65_536] {
            var rest = bytes[...]
            let reader = try ContainerReader(
                streaming: format == .matroska ? .matroska : .transportStream, name: "stream",
                takesSound: true
            ) { room in
                let piece = rest.prefix(min(size, room.count))
                room.copyBytes(from: piece)
                rest = rest.dropFirst(piece.count)
                return piece.count
            }
            let (times, sounds) = try content(of: reader)
            #expect(times.count == 60)
            #expect(sounds.map(\.allBytes) == written.map(\.allBytes))
            // Neither can be done with a stream.
            try reader.seek(to: .zero)
            try reader.rewind()
            #expect(try reader.next() == nil)
        }
    }

    @Test("a stream that fails ends with an error, whose cause its reader knows")
    func failingStream() throws {
        let pictures = try CodedStream(.h264, frames: 60)
        _ = try record(.aac, .matroska, pictures: pictures)
        var rest = try #require(folder.content("in.mkv"))[...].prefix(20_000)
        let reader = try ContainerReader(streaming: .matroska, name: "stream") { room in
            let piece = rest.prefix(room.count)
            room.copyBytes(from: piece)
            rest = rest.dropFirst(piece.count)
            return piece.isEmpty ? -1 : piece.count
        }
        #expect(throws: InputError.self) { while try reader.next() != nil {} }
    }

    @Test(
        "damaged files with sound end, or are refused in one line",
        arguments: cases.filter { $0.source == $0.target })
    func damage(_ kind: Case) throws {
        let pictures = try CodedStream(.h264, frames: 60) { Int64($0) * 33_333_333 }
        _ = try record(kind.codec, kind.source, pictures: pictures)
        let whole = try #require(folder.content("in.\(kind.source.rawValue)"))
        var generator = SeededGenerator(seed: 21)
        for _ in 0..<30 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...60, using: &generator) {
                bytes[.random(in: 0..<bytes.count, using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            folder.write("bad", bytes)
            do throws(InputError) {
                let reader = try ContainerReader(path: folder.path("bad"), takesSound: true)
                while let packet = try reader.next() { _ = packet.sound.map { $0.end } }
            } catch {
                #expect(!error.description.contains("\n"))
            }
        }
    }
}
