import Bitstream
import TestSupport
import Testing

@testable import Decoder

/// Bytes that nobody should send.
@Suite struct HostileStreamTests {
    @Test("random bytes give no picture", arguments: Codec.allCases)
    func noise(codec: Codec) throws {
        var generator = SeededGenerator(seed: 1)
        var received = 0
        for _ in 0..<20 {
            let bytes = (0..<20_000).map { _ in UInt8.random(in: 0...255, using: &generator) & 0x83 }
            let receiver = try Receiver.receive(bytes, codec, chunkLength: 999)
            #expect(receiver.pictures.isEmpty)
            #expect(receiver.decoder.counters.isBalanced, "\(receiver.decoder.counters)")
            received += receiver.decoder.counters.received
        }
        // Some of it looks like slices.
        #expect(received > 0)
    }

    @Test("damaged streams give pictures of the right size or none", arguments: Codec.allCases)
    func damage(codec: Codec) throws {
        let stream = try CodedFilm(codec: codec).accessUnits(12).flatMap { $0 }
        var generator = SeededGenerator(seed: 2)
        var pictureCount = 0
        for round in 0..<60 {
            var bytes = stream
            for _ in 0...round {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            let receiver = try Receiver.receive(bytes, codec) {
                $0.lossPolicy = round % 2 == 0 ? .show : .freeze
            }
            #expect(receiver.pictures.allSatisfy { $0.width == 128 && $0.height == 96 })
            pictureCount += receiver.pictures.count
            #expect(receiver.decoder.counters.isBalanced, "\(receiver.decoder.counters)")
        }
        #expect((60..<60 * 12).contains(pictureCount), "\(pictureCount)")
    }

    /// VPS, SPS with `persistent_rice_adaptation_enabled_flag`, PPS with `entropy_coding_sync_enabled_flag`, and an
    /// IDR slice without entry points, none of them sound: found by fuzzing.
    private static let persistentRice: [UInt8] = [
        0x00, 0x00, 0x01, 0x40, 0x01, 0x0c, 0x01, 0xff, 0xff, 0x04, 0x08, 0x00, 0x03, 0x00, 0x00, 0x00,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x01, 0x42, 0x01, 0x01, 0x04, 0x08, 0x00,
        0x03, 0x00, 0x4f, 0xc8, 0x01, 0x00, 0x00, 0x00, 0x1e, 0xc0, 0x82, 0x0c, 0x59, 0x65, 0x66, 0xb9,
        0x32, 0xbc, 0x20, 0x62, 0xff, 0xff, 0xff, 0x64, 0x00, 0x00, 0x01, 0x44, 0x01, 0xc1, 0x74, 0x3d,
        0x32, 0x35, 0x67, 0x00, 0x00, 0x01, 0x28, 0x01, 0xae, 0x08, 0x30,
    ]

    @Test("decodes on one thread what crashes libavcodec with threads", arguments: [true, false])
    func persistentRiceStream(fromStart: Bool) throws {
        let ordinary = try fromStart ? [] : CodedFilm(codec: .hevc).accessUnits(3).flatMap { $0 }
        let receiver = try Receiver.receive(ordinary + Self.persistentRice, .hevc) { $0.lossPolicy = .show }
        #expect(receiver.decoder.counters.received >= 1)
        #expect(receiver.decoder.counters.isBalanced, "\(receiver.decoder.counters)")
    }

    @Test("a sequence parameter set between keyframes never reaches a decoder with threads")
    func persistentRiceAmidPictures() throws {
        let units = try CodedFilm(codec: .hevc).accessUnits(4)
        let sets = Self.persistentRice.prefix { $0 != 0x28 }
        let receiver = try Receiver.receive(units[0] + sets.dropLast(3) + units[1] + units[2], .hevc)
        #expect(receiver.decoder.lastLoss == "a sequence parameter set arrived between keyframes")
        #expect(receiver.decoder.counters.isBalanced, "\(receiver.decoder.counters)")
    }

    @Test("treats zeros in place of a picture's bytes as a loss", arguments: Codec.allCases, [0, 2])
    func zeros(codec: Codec, last: UInt8) throws {
        let units = try CodedFilm(codec: codec).accessUnits(4)
        let whole = try Receiver.receive(units.flatMap { $0 }, codec).pictures
        for place in [20, units[2].count / 2, units[2].count - 10] {
            var damaged = units
            damaged[2].replaceSubrange(place..<place + 4, with: [0x5A, 0, 0, last])
            let receiver = try Receiver.receive(damaged.flatMap { $0 }, codec)
            #expect(receiver.decoder.counters.losses == 1)
            #expect(!receiver.pictures.isEmpty)
            #expect(receiver.pictures.allSatisfy { whole.contains($0) })
        }
    }

    @Test("an access unit beyond the limit is a loss, and memory stays bounded")
    func largeUnit() throws {
        let units = try CodedFilm(codec: .h264).accessUnits(12)
        let assembler = AccessUnitAssembler(codec: .h264, byteLimit: 20_000)
        let zeros = [UInt8](repeating: 0x41, count: 100_000)
        var incomplete: [Bool] = []
        for chunk in [units[0], [0, 0, 0, 1] + zeros, units[10]] {
            assembler.add(chunk.span.bytes) { unit in
                incomplete.append(unit.isIncomplete)
                let count = unit.withUnsafeBytes { $0.count }
                #expect(count <= 20_000)
            }
        }
        assembler.finish { unit in incomplete.append(unit.isIncomplete) }
        #expect(incomplete.contains(true))
        #expect(incomplete.last == false)
    }

    @Test("accepts a keyframe after an access unit that did not fit, as one after a gap")
    func largeAccessUnit() throws {
        let units = try CodedFilm(codec: .h264).accessUnits(12)
        let assembler = AccessUnitAssembler(codec: .h264, byteLimit: 20_000)
        var facts: [[Bool]] = []
        func note(_ unit: borrowing ReceivedAccessUnit) {
            facts.append([unit.isEntryPoint, unit.followsGap, unit.isIncomplete])
        }
        for chunk in [units[0], units[1] + [UInt8](repeating: 0x41, count: 100_000), units[10]] {
            assembler.add(chunk.span.bytes, note)
        }
        assembler.finish(note)
        #expect(facts == [[true, false, false], [true, true, false]])
    }
}
