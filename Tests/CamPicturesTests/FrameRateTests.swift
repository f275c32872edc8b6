import Testing
import CamPlatform

@testable import CamPictures

@Suite struct FrameRateTests {
    @Test(
        "reads numbers, decimals and fractions",
        arguments: [
            ("30", 30, 1), ("29.97", 30000, 1001), ("23.976", 24000, 1001), ("59.94", 60000, 1001),
            ("30000/1001", 30000, 1001), ("60/2", 30, 1), ("12.5", 25, 2), ("0.5", 1, 2), ("7.5", 15, 2),
            ("1000000", 1_000_000, 1), ("1/86400", 1, 86400),
        ])
    func reads(text: String, numerator: Int, denominator: Int) throws {
        let rate = try #require(FrameRate(text))
        #expect(rate.numerator == numerator)
        #expect(rate.denominator == denominator)
    }

    @Test(
        "refuses anything else",
        arguments: [
            "", "0", "-30", "0/0", "30/0", "0/1", "-1/-1", "a", "30fps", "1/2/3", "/", "nan", "inf", "1e9",
            "0x10", "0x1p4", "3e1",
            "0.0001", "1/86401", "1000001", "99999999999999999999",
            "9223372036854775807/9223372036854775807x",
        ])
    func refuses(text: String) { #expect(FrameRate(text) == nil) }

    @Test("refuses parts beyond 31 bits, even in lowest terms")
    func bounds() {
        #expect(FrameRate(Int.max, Int.max) == FrameRate(1))
        #expect(FrameRate(Int.max, Int.max - 1) == nil)
        #expect(FrameRate(Int.min, 1) == nil)
        #expect(FrameRate(0, 0) == nil)
    }

    @Test(
        "prints rates as people write them",
        arguments: [("30", "30"), ("30000/1001", "29.97"), ("12.5", "12.5")])
    func prints(text: String, expected: String) { #expect(FrameRate(text)?.description == expected) }

    @Test("orders rates by value")
    func order() throws {
        let ntsc = try #require(FrameRate(30000, 1001))
        let rates = try [#require(FrameRate(30)), ntsc, #require(FrameRate(25)), #require(FrameRate(60))]
        #expect(rates.sorted().map(\.description) == ["25", "29.97", "30", "60"])
    }

    @Test("frame times do not drift")
    func times() throws {
        let rate = try #require(FrameRate(30000, 1001))
        #expect(rate.frameDuration == .nanoseconds(33_366_666))
        #expect(rate.time(ofFrame: 0) == .zero)
        #expect(rate.time(ofFrame: 30000) == .seconds(1001))
        #expect(rate.time(ofFrame: 30_000_000) == .seconds(1_001_000))
    }

    @Test("no frame's time overflows", arguments: ["1/86400", "1000000", "30000/1001"])
    func distantTimes(text: String) throws {
        let rate = try #require(FrameRate(text))
        #expect(rate.time(ofFrame: .max) > .zero)
        #expect(rate.time(ofFrame: .max) <= .nanoseconds(Int64.max / 2))
        #expect(rate.frameDuration > .zero)
    }
}

@Suite struct PictureSizeTests {
    @Test("reads and prints sizes as WIDTHxHEIGHT")
    func reads() {
        #expect(PictureSize("640x480") == PictureSize(640, 480))
        #expect(PictureSize(1920, 1080)?.description == "1920x1080")
        #expect(PictureSize("16384x1")?.area == 16384)
    }

    @Test(
        "refuses anything else as a size",
        arguments: ["", "640", "640x", "x480", "640x480x1", "0x480", "-1x1", "16385x1", "640X480", "6 x4"])
    func refuses(text: String) { #expect(PictureSize(text) == nil) }
}
