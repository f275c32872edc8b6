import TestSupport
import Testing

@testable import Bitstream

@Suite struct EmulationPreventionTests {
    @Test(arguments: [
        ("65 000000", "65 0000 03 00 03"),
        ("65 000001", "65 0000 03 01"),
        ("65 000002", "65 0000 03 02"),
        ("65 000003", "65 0000 03 03"),
        ("65 000004", "65 000004"),
        ("65 0000000001", "65 0000 03 0000 03 01"),
        ("65 80", "65 80"),
        ("65 0000", "65 0000 03"),
        ("65 00", "65 00 03"),
        ("", ""),
    ])
    func escapingAsIn7_4_1(_ plain: String, _ escaped: String) {
        #expect(EmulationPrevention.escape(hex(plain)) == hex(escaped))
    }

    private func isBroken(_ nalUnit: [UInt8]) -> Bool { EmulationPrevention.isBroken(in: nalUnit.span.bytes) }

    @Test("finds bytes that no NAL unit may contain, wherever they are")
    func broken() {
        for last: UInt8 in [0, 2] {
            for place in 0..<20 {
                var unit = [UInt8](repeating: 0x41, count: 22)
                unit.replaceSubrange(place..<place + 3, with: [0, 0, last])
                #expect(isBroken(unit), "\(last) at \(place)")
            }
        }
        for sound in [
            "", "00", "41", "41 00", "41 0000", "41 0000 03", "41 00 01 00 02 00 03 00", "41 0000 04",
        ] {
            #expect(!isBroken(hex(sound)), "\(sound)")
        }
    }

    @Test func escapedUnitsHoldNoStartCodeAndComeBack() {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<2000 {
            let count = Int.random(in: 0...60, using: &generator)
            let plain = [0x65] + (0..<count).map { _ in UInt8.random(in: 0...4, using: &generator) } + [0x80]
            let escaped = EmulationPrevention.escape(plain)
            let hasForbidden = escaped.indices.dropLast(2).contains {
                escaped[$0] == 0 && escaped[$0 + 1] == 0 && escaped[$0 + 2] < 3
            }
            #expect(!hasForbidden)
            #expect(!isBroken(escaped))
            #expect(EmulationPrevention.unescape(escaped) == plain)
        }
    }
}
