import Bitstream
import Testing
import TestSupport
import CamPlatform

@testable import CamWeb

@Suite("access units from a live stream")
struct LivePicturesTests {
    /// Each unit's bytes.
    private final class Results {
        var units: [(bytes: [UInt8], isIDR: Bool)] = []
        func note(_ unit: AccessUnit) { units.append((unit.withUnsafeBytes { Array($0) }, unit.isIDR)) }
    }

    /// What comes out of chunks, with a pause after each where that is wanted.
    private func units(
        of chunks: [[UInt8]], _ codec: Codec = .h264, pauses: Bool = false, byteLimit: Int = 1 << 20
    ) -> (Results, LivePictures) {
        let (results, pictures) = (Results(), LivePictures(codec: codec, byteLimit: byteLimit))
        for chunk in chunks {
            pictures.add(chunk.span.bytes, arrival: .start) { results.note($0) }
            if pauses { pictures.pause { results.note($0) } }
        }
        return (results, pictures)
    }

    @Test("chunks of any size give the same pictures", arguments: Codec.allCases, [1, 7, 100, 100_000])
    func chunks(codec: Codec, size: Int) throws {
        let stream = try EncodedStream(codec)
        let bytes = stream.bytes
        let chunks = stride(from: 0, to: bytes.count, by: size).map {
            Array(bytes[$0..<min($0 + size, bytes.count)])
        }
        let (results, pictures) = units(of: chunks, codec)
        // The last one's end is not known yet.
        #expect(results.units.count == 19)
        pictures.finish(arrival: .start) { results.note($0) }
        #expect(results.units.count == 20)
        #expect(results.units.map(\.isIDR) == (0..<20).map { $0 % 10 == 0 })
        let (whole, _) = units(of: stream.packets, codec, pauses: true)
        #expect(results.units.map(\.bytes) == whole.units.map(\.bytes))
    }

    @Test("a pause ends a picture", arguments: Codec.allCases)
    func pause(codec: Codec) throws {
        let stream = try EncodedStream(codec)
        let (results, pictures) = units(of: stream.packets, codec, pauses: true)
        #expect(results.units.count == 20)
        #expect(pictures.splitCount == 0)
    }

    @Test("a pause within a picture costs the rest up to the next keyframe")
    func split() throws {
        let stream = try EncodedStream()
        var chunks = stream.packets
        let half = chunks[3].count / 2
        chunks.replaceSubrange(3...3, with: [Array(chunks[3][..<half]), Array(chunks[3][half...])])
        let (results, pictures) = units(of: chunks, pauses: true)
        #expect(pictures.splitCount == 1)
        // Pictures 0 to 2 and the first half of 3; then 10 to 19.
        #expect(results.units.count == 14)
        #expect(results.units.map(\.isIDR) == (0..<14).map { $0 == 0 || $0 == 4 })
    }

    @Test("a pause before a picture's slice delivers nothing")
    func parameterSetsAlone() throws {
        let stream = try EncodedStream()
        let (results, _) = units(of: [Array(stream.packets[0].prefix(12))], pauses: true)
        #expect(results.units.isEmpty)
    }

    @Test("a stream begins at its first keyframe")
    func joinedLate() throws {
        let stream = try EncodedStream()
        let (results, _) = units(of: Array(stream.packets[4...]), pauses: true)
        #expect(results.units.count == 10)
        #expect(results.units.first?.isIDR == true)
    }

    @Test("each keyframe has its parameter sets, even if the sender leaves them out")
    func parameterSets() throws {
        let stream = try EncodedStream()
        var packets = stream.packets
        let first = units(of: [packets[0]], pauses: true).0
        let slice = try #require(packets[10].firstRange(of: [0, 0, 1, 0x65]))
        packets[10] = [0] + packets[10][slice.lowerBound...]
        let (results, _) = units(of: packets, pauses: true)
        #expect(results.units.count == 20)
        let sets = try #require(first.units.first?.bytes.prefix(20))
        #expect(results.units[10].bytes.starts(with: sets))
    }

    @Test("a picture larger than the limit is left out, and so is what refers to it")
    func tooLarge() throws {
        let stream = try EncodedStream()
        var packets = stream.packets
        packets[2] += [UInt8](repeating: 0x55, count: 100_000)
        let (results, _) = units(of: packets, pauses: true, byteLimit: 50_000)
        #expect(results.units.count == 12)
        #expect(results.units[2].isIDR)
    }

    @Test(
        "a picture of one slice that is too large is left out with what refers to it",
        arguments: [false, true])
    func tooLargeSlice(pauses: Bool) throws {
        let stream = try EncodedStream()
        var packets = stream.packets
        let slice = try #require(
            packets[2].firstRange(of: [0, 0, 1, 0x41]) ?? packets[2].firstRange(of: [0, 0, 1, 0x61]))
        packets[2] = [0] + packets[2][slice.lowerBound...] + [UInt8](repeating: 0x55, count: 100_000)
        let (results, pictures) = units(of: packets, pauses: pauses, byteLimit: 50_000)
        pictures.finish(arrival: .start) { results.note($0) }
        #expect(results.units.count == 12)
        #expect(results.units[2].isIDR)
    }

    @Test("a pause ends a picture, too, if no chunk ended with the keyframe")
    func pauseAfterTwo() throws {
        let packets = try EncodedStream().packets
        let (results, _) = units(of: [packets[0] + packets[1]] + packets[2...], pauses: true)
        #expect(results.units.count == packets.count)
    }

    @Test("reordered pictures are noticed", arguments: Codec.allCases, [0, 2])
    func reordering(codec: Codec, bFrames: Int) throws {
        let stream = try EncodedStream(codec, bFrames: bFrames)
        let (_, pictures) = units(of: stream.packets, codec, pauses: true)
        #expect(pictures.isReordered == (bFrames > 0))
    }

    @Test("any bytes are safe")
    func anything() {
        var generator = SeededGenerator(seed: 23)
        for codec in Codec.allCases {
            let chunks = (0..<300).map { _ in
                (0..<Int.random(in: 1...90, using: &generator)).map { _ in
                    // Start codes are frequent.
                    [0, 0, 1, UInt8.random(in: 0...255, using: &generator)].randomElement(using: &generator)
                        ?? 0
                }
            }
            let (results, pictures) = units(of: chunks, codec, pauses: true, byteLimit: 500)
            pictures.finish(arrival: .start) { results.note($0) }
            #expect(results.units.allSatisfy { $0.bytes.count <= 500 + 4 * 500 })
        }
    }
}
