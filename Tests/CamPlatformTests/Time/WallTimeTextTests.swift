import TestSupport
import Testing
import CamPlatform

/// Wall-clock times as text, and of instants.
@Suite struct WallTimeTextTests {
    @Test(
        "writes a time in UTC to the microsecond, and reads it back",
        arguments: [
            (Int64(0), "1970-01-01T00:00:00.000000Z"),
            (1_764_114_044_123_456_000, "2025-11-25T23:40:44.123456Z"),
            (951_782_400_000_001_000, "2000-02-29T00:00:00.000001Z"),
            (4_102_444_799_999_999_000, "2099-12-31T23:59:59.999999Z"),
        ])
    func text(nanoseconds: Int64, text: String) {
        #expect(WallTime(nanoseconds: nanoseconds).iso8601 == text)
        #expect(WallTime(iso8601: text) == WallTime(nanoseconds: nanoseconds))
    }

    @Test("the earliest time has a text, too")
    func earliest() {
        #expect(WallTime(nanoseconds: .min).iso8601 == "1677-09-21T00:12:43.145224Z")
        #expect(WallTime(nanoseconds: -1).iso8601 == "1969-12-31T23:59:59.999999Z")
    }

    @Test("reads any number of decimals")
    func decimals() {
        let time = WallTime(seconds: 1_764_114_044)
        #expect(WallTime(iso8601: "2025-11-25T23:40:44Z") == time)
        #expect(WallTime(iso8601: "2025-11-25T23:40:44.5Z") == time + .milliseconds(500))
        #expect(WallTime(iso8601: "2025-11-25T23:40:44.1234567891Z") == time + .nanoseconds(123_456_789))
    }

    @Test("a leap second is the second that follows, as in POSIX")
    func leapSecond() {
        #expect(WallTime(iso8601: "2016-12-31T23:59:60Z") == WallTime(iso8601: "2017-01-01T00:00:00Z"))
    }

    @Test(
        "refuses anything else",
        arguments: [
            "", "Z", "2025", "2025-11-25", "2025-11-25T23:40:44", "2025-11-25T23:40:44+01:00",
            "2025-13-25T23:40:44Z", "2025-11-25T24:40:44Z", "2025-11-25 23:40:44Z", "2025-11-25T23:40:44.Z",
            "1969-12-31T23:59:59Z", "2025-11-25T23:40:44.1x3Z", "+025-11-25T23:40:44Z",
            "2025-11-25T23:40:44.12345678912345678901234567890Z", "2025:11:25T23:40:44Z", "-----------",
        ])
    func malformed(text: String) { #expect(WallTime(iso8601: text) == nil) }

    @Test("an instant's wall-clock time follows the wall clock as it is set now")
    func instants() {
        let clock = ScriptedTime(now: .start + .seconds(100), wallTime: WallTime(seconds: 5000))
        #expect(clock.wallTime(at: .start + .seconds(99)) == WallTime(seconds: 4999))
        clock.wallTime += .seconds(3600)
        #expect(clock.wallTime(at: .start + .seconds(99)) == WallTime(seconds: 8599))
    }

    @Test("time that the machine slept is not in an instant's age")
    func suspend() {
        let clock = ScriptedTime(now: .start + .seconds(100), wallTime: WallTime(seconds: 5000))
        let capture = clock.now
        // An hour asleep, then a second awake.
        clock.wallTime += .seconds(3600)
        clock.pass(.seconds(1))
        #expect(clock.wallTime(at: capture) == WallTime(seconds: 8600))
    }
}
