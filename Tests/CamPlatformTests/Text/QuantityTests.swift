import CamPlatform
import Testing

@Suite struct QuantityTests {
    @Test("a number has no more decimals than it needs, or exactly one")
    func decimals() {
        #expect(Quantity.decimal(1.5, 2) == "1.5")
        #expect(Quantity.decimal(29.97003, 3) == "29.97")
        #expect(Quantity.decimal(2, 3) == "2")
        #expect(Quantity.decimal(-0.001, 2) == "0")
        #expect(Quantity.decimal(.infinity, 2) == "inf")
        #expect(Quantity.tenths(2) == "2.0")
        #expect(Quantity.tenths(-0.44) == "-0.4")
        #expect(Quantity.tenths(.nan) == "nan")
    }

    @Test("bit rates and times have the unit that suits their size")
    func units() {
        #expect(Quantity.bitRate(950) == "950 bit/s")
        #expect(Quantity.bitRate(4_123_456) == "4.12 Mbit/s")
        #expect(Quantity.seconds(0.5) == "0.5 s")
        #expect(Quantity.duration(6.666) == "6.67 s")
        #expect(Quantity.duration(123.44) == "2:03.4")
        #expect(Quantity.duration(3723) == "1:02:03")
    }

    @Test("one thing is singular, all other numbers are plural")
    func plurals() {
        #expect([0, 1, 2].map { Quantity.count($0, "frame") } == ["0 frames", "1 frame", "2 frames"])
    }
}
