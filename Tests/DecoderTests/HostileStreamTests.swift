import Bitstream
import TestSupport
import Testing

@testable import Decoder

/// Bytes that nobody should send.
@Suite struct HostileStreamTests {
    @Test("bytes at random give no picture", arguments: Codec.allCases)
    func noise(codec: Codec) throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<20 {
            let bytes = (0..<20_000).map { _ in UInt8.random(in: 0...255, using: &generator) & 0x83 }
            #expect(try Receiver.receive(bytes, codec, chunkLength: 999).pictures.isEmpty)
        }
    }

    @Test("damaged streams give pictures of the right size or none", arguments: Codec.allCases)
    func damage(codec: Codec) throws {
        let stream = try CodedFilm(codec: codec).accessUnits(12).flatMap { $0 }
        var generator = SeededGenerator(seed: 2)
        for round in 0..<60 {
            var bytes = stream
            for _ in 0...round {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            let receiver = try Receiver.receive(bytes, codec) {
                $0.lossPolicy = round % 2 == 0 ? .show : .freeze
            }
            #expect(receiver.pictures.count <= 14)
            #expect(receiver.decoder.counters.isBalanced, "\(receiver.decoder.counters)")
        }
    }

    @Test("an access unit beyond the limit is a loss, and memory stays bounded")
    func largeUnit() throws {
        let units = try CodedFilm(codec: .h264).accessUnits(12)
        let gatherer = AccessUnitGatherer(codec: .h264, byteLimit: 20_000)
        let zeros = [UInt8](repeating: 0x41, count: 100_000)
        var incomplete: [Bool] = []
        for chunk in [units[0], [0, 0, 0, 1] + zeros, units[10]] {
            gatherer.gather(chunk.span.bytes) { unit in
                incomplete.append(unit.isIncomplete)
                let count = unit.withUnsafeBytes { $0.count }
                #expect(count <= 20_000)
            }
        }
        gatherer.finish { unit in incomplete.append(unit.isIncomplete) }
        #expect(incomplete.contains(true))
        #expect(incomplete.last == false)
    }

    @Test("a keyframe behind an access unit of which nothing fits is one, behind a gap")
    func largeAccessUnit() throws {
        let units = try CodedFilm(codec: .h264).accessUnits(12)
        let gatherer = AccessUnitGatherer(codec: .h264, byteLimit: 20_000)
        var facts: [[Bool]] = []
        func note(_ unit: borrowing ReceivedAccessUnit) {
            facts.append([unit.isEntryPoint, unit.isBehindGap, unit.isIncomplete])
        }
        for chunk in [units[0], units[1] + [UInt8](repeating: 0x41, count: 100_000), units[10]] {
            gatherer.gather(chunk.span.bytes, note)
        }
        gatherer.finish(note)
        #expect(facts == [[true, false, false], [true, true, false]])
    }
}
