import Testing
import CamPlatform

/// Instants and the durations between them.
@Suite struct InstantTests {
    @Test("an instant plus a duration is an instant, and two instants differ by a duration")
    func arithmetic() {
        let moment = Instant.start + .seconds(5)
        #expect(moment.nanoseconds == 5_000_000_000)
        #expect(moment - .milliseconds(1) == Instant(nanoseconds: 4_999_000_000))
        #expect(moment - .start == .seconds(5))
        #expect(.start < moment)
    }

    @Test("arithmetic saturates at the ends of time, and the duration between the ends is exact")
    func extremes() {
        #expect(Instant.distantFuture + .nanoseconds(1) == .distantFuture)
        #expect(Instant.distantPast - .nanoseconds(1) == .distantPast)
        #expect(Instant.start + .seconds(Int64.max) == .distantFuture)
        #expect(Instant.start - .seconds(Int64.max) == .distantPast)
        let age = Instant.distantFuture - .distantPast
        #expect(age == .nanoseconds(Int64.max) - .nanoseconds(Int64.min))
        #expect(age.inNanoseconds == .max)
    }

    @Test("the clock advances")
    func now() {
        let start = Instant.now
        while Instant.now == start {}
        #expect(Instant.now > start)
        #expect(SystemTime().now >= start)
        #expect(SystemTime().suspendedTime > .seconds(-1))
    }
}

/// Wall-clock times.
@Suite struct WallTimeTests {
    @Test(
        "seconds are counted from 1970, and rounded down before it, too",
        arguments: [(1.5, 1), (0, 0), (-0.5, -1), (-1, -1)])
    func seconds(time: Double, seconds: Int) {
        #expect((WallTime(seconds: 0) + .seconds(time)).seconds == seconds)
    }

    @Test("the calendar is past 2020, and agrees with the system's")
    func now() {
        #expect(WallTime.now > WallTime(seconds: 1_577_836_800))
        #expect((SystemTime().wallTime - .now).magnitude < .seconds(60))
    }
}

/// Durations in other units.
@Suite struct DurationUnitsTests {
    @Test("fractions are dropped toward zero")
    func fractions() {
        #expect((Duration.nanoseconds(3) / 2).inNanoseconds == 1)
        #expect((Duration.nanoseconds(-3) / 2).inNanoseconds == -1)
        #expect(Duration.microseconds(1999).inMilliseconds == 1)
        #expect(Duration.milliseconds(1500).inSeconds == 1.5)
        #expect(Duration.seconds(-2).magnitude == .seconds(2))
    }
}
