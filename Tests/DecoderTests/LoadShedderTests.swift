import Bitstream
import Testing

@testable import Decoder

/// What a late player skips.
@Suite struct LoadShedderTests {
    private static let late = LoadShedder.disposableLimit + .nanoseconds(1)
    private static let veryLate = LoadShedder.entryLimit + .nanoseconds(1)

    /// Which of these pictures are skipped: I an entry point, P a reference, b no reference, s a second field.
    private func skipped(_ pictures: String, lateness: (Int) -> Duration) -> String {
        var shedder = LoadShedder()
        return String(
            pictures.enumerated().map { index, letter in
                var role = PictureRole()
                role.isEntryPoint = letter == "I"
                role.isDisposable = letter == "b"
                role.isSecondField = letter == "s"
                return shedder.skips(role, lateness: lateness(index)) ? "-" : letter
            })
    }

    @Test(
        "in H.265, only the highest sub-layer has pictures that no other refers to",
        arguments: [(1, false), (2, true)])
    func subLayers(temporalID: UInt8, isDisposable: Bool) {
        // Two sub-layers, from the reference encoder.
        let sets = [
            "40010c02ffff02200000030040000003000003003c00009598acc048",
            "42010202200000030040000003000003003c0000a00d080f13659598acd24995e02d0d00000303e90000753008",
            "4401c172b44240",
        ]
        var stream: [UInt8] = []
        for set in sets {
            let digits = Array(set)
            stream += [0, 0, 0, 1]
            stream += stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(digits[$0...$0 + 1]), radix: 16)
            }
        }
        // TRAIL_N
        stream += [0, 0, 0, 1, 0, temporalID, 0b1101_0000, 0, 0, 0x80]
        var found: [Bool] = []
        let assembler = AccessUnitAssembler(codec: .hevc)
        assembler.add(stream.span.bytes) { found.append($0.role.isDisposable) }
        assembler.finish { found.append($0.role.isDisposable) }
        #expect(found == [isDisposable])
    }

    @Test("a punctual player skips nothing")
    func onTime() { #expect(skipped("IPbPbIPb") { _ in LoadShedder.disposableLimit } == "IPbPbIPb") }

    @Test("a late player skips pictures that no other refers to")
    func late() { #expect(skipped("IPbPbIPb") { _ in Self.late } == "IP-P-IP-") }

    @Test("a very late player skips everything up to the next entry point, until it is on time")
    func veryLate() {
        #expect(skipped("IPbPbIPbIPb") { _ in Self.veryLate } == "I----I--I--")
        #expect(skipped("IPbPPIPbIPb") { $0 < 2 ? Self.veryLate : .zero } == "I----IPbIPb")
    }

    @Test("skips both fields of a frame or none")
    func fields() {
        #expect(skipped("IsPsbs") { $0 == 3 ? Self.veryLate : .zero } == "IsPsbs")
        #expect(skipped("IsPsPsIs") { $0 == 2 ? Self.veryLate : .zero } == "Is----Is")
    }

    @Test("skips every second picture if all are entry points")
    func intraOnly() { #expect(skipped("IIIIII") { _ in Self.veryLate } == "I-I-I-") }

    /// A film of which some access units are skipped.
    private func receive(
        _ codec: Codec, bFrames: Int, skipping isSkipped: @escaping (PictureRole, Int) -> Bool
    ) throws -> (whole: Receiver, partial: Receiver) {
        let stream = try CodedFilm(codec: codec, bFrames: bFrames).accessUnits(30).flatMap { $0 }
        let partial = Receiver(codec) { $0.delay = .safe }
        partial.isSkipped = isSkipped
        try partial.take(stream)
        try partial.finish()
        return (try Receiver.receive(stream, codec) { $0.delay = .safe }, partial)
    }

    @Test("without unreferenced pictures, all others are unchanged", arguments: Codec.allCases)
    func disposable(codec: Codec) throws {
        let (whole, partial) = try receive(codec, bFrames: 3) { role, _ in role.isDisposable }
        let counters = partial.decoder.counters
        #expect(counters.skipped > 5)
        #expect(counters.losses == 0)
        #expect(counters.isBalanced)
        let kept = Set(partial.numbers)
        #expect(kept.count == 30 - counters.skipped)
        #expect(partial.pictures == whole.pictures.filter { kept.contains($0.number) })
    }

    @Test("delivers held-back pictures when references are skipped", arguments: Codec.allCases)
    func heldBack(codec: Codec) throws {
        let receiver = Receiver(codec) { $0.delay = .safe }
        receiver.isSkipped = { _, number in number >= 4 }
        // The last of them is not known to be complete.
        for unit in try CodedFilm(codec: codec, bFrames: 3).accessUnits(10) { try receiver.take(unit) }
        #expect(receiver.numbers.sorted() == [0, 1, 2, 3])
    }

    @Test(
        "continues at the next entry point after a gap of references", arguments: Codec.allCases,
        [0, 3])
    func references(codec: Codec, bFrames: Int) throws {
        let (whole, partial) = try receive(codec, bFrames: bFrames) { _, number in (4..<10).contains(number) }
        #expect(partial.pictures == whole.pictures.filter { !(4..<10).contains($0.number) })
        #expect(partial.decoder.counters.skipped == 6)
        #expect(partial.decoder.counters.losses == 0)
        #expect(partial.decoder.counters.isBalanced)
    }
}
