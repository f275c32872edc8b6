import Testing
import CamPlatform

@testable import Capture

/// Times of capture that a driver cannot mean.
@Suite struct TimestampCorrectionTests {
    private static let interval = Duration.milliseconds(40)

    /// Corrects the times of pictures that arrive regularly, ten milliseconds after capture.
    /// - Parameter shifts: how far each of the driver's times is from the right one.
    private func correct(shifts: [Duration]) -> [TimestampCorrection.Result] {
        var times = TimestampCorrection(frameDuration: Self.interval, start: Self.start)
        return shifts.enumerated().map { number, shift in
            let captured = Self.captured(number)
            return times.correct(captured + shift, arrival: captured + .milliseconds(10))
        }
    }

    /// The stream starts a little before its first picture.
    private static let start = captured(0) - .milliseconds(300)

    private static func captured(_ number: Int) -> Instant { .start + .seconds(1000) + interval * number }

    private func isClose(_ result: TimestampCorrection.Result, _ time: Instant) -> Bool {
        (result.time - time).magnitude < .milliseconds(2)
    }

    @Test("right times stay as they are, with their jitter")
    func right() {
        let jitter = (0..<100).map { Duration.milliseconds($0 % 3 * 4) }
        let results = correct(shifts: jitter)
        #expect(results.allSatisfy { $0.fault == nil })
        #expect(results.enumerated().allSatisfy { $1.time == Self.captured($0) + jitter[$0] })
    }

    @Test("pictures that were read late, all at once, keep their times")
    func late() {
        var times = TimestampCorrection(frameDuration: Self.interval, start: Self.start)
        let arrivals = (0..<20).map { Self.captured(5...14 ~= $0 ? 100 : $0 + ($0 < 5 ? 0 : 100)) }
        for (number, arrival) in arrivals.enumerated() {
            let captured = Self.captured(number < 15 ? number : number + 100)
            let result = times.correct(captured, arrival: arrival + .milliseconds(10))
            #expect(result.time == captured)
            #expect(result.fault == nil)
        }
    }

    @Test("times that stand still are replaced after two intervals, until they go on")
    func standing() {
        // The driver repeats the tenth time for a minute.
        let shifts = (0..<1600).map { 10..<1510 ~= $0 ? Self.captured(9) - Self.captured($0) : .zero }
        let results = correct(shifts: shifts)
        #expect(results[..<11].allSatisfy { $0.fault == nil })
        #expect(results[11..<1510].allSatisfy { $0.fault == .standing })
        #expect(results[1510...].allSatisfy { $0.fault == nil })
        for number in 11..<1600 { #expect(isClose(results[number], Self.captured(number)), "\(number)") }
    }

    @Test("times that stand still from the start are those of arrival, however old the first one is")
    func standingFromTheStart() {
        let results = correct(shifts: (0..<50).map { .seconds(-20) - Self.interval * $0 })
        for number in 0..<50 {
            #expect(results[number].time == Self.captured(number) + .milliseconds(10))
        }
        #expect(results[1...].allSatisfy { $0.fault == .standing })
    }

    @Test(
        "a clock that is wrong from the first picture on is corrected at once",
        arguments: [-59, -10, -0.5, 0.5, 59])
    func wrongFromTheStart(seconds: Double) {
        let results = correct(shifts: (0..<100).map { _ in .seconds(seconds) })
        for number in 0..<100 {
            #expect(isClose(results[number], Self.captured(number) + .milliseconds(10)), "\(number)")
        }
        for result in results[1...] {
            guard case .jumped(let found)? = result.fault else {
                Issue.record("no jump")
                continue
            }
            #expect((found - .seconds(seconds)).magnitude < .milliseconds(20))
        }
    }

    @Test(
        "a wrong clock's pictures keep their intervals, and come from no future, if its first ones arrive late"
    )
    func wrongAndLate() {
        var times = TimestampCorrection(frameDuration: Self.interval, start: Self.start)
        var last: Instant?
        for number in 0..<50 {
            let captured = Self.captured(number)
            let arrival = captured + .milliseconds(number < 3 ? 35 : 10)
            let result = times.correct(captured - .seconds(10), arrival: arrival)
            #expect(result.time <= arrival)
            if let last, number > 3 { #expect(result.time - last == Self.interval) }
            last = result.time
        }
    }

    @Test("a picture that waited in the driver since before the start says nothing about the next ones")
    func oldPicture() {
        let results = correct(shifts: (0..<50).map { $0 == 0 ? .seconds(-20) : .zero })
        #expect(results[0].time == Self.captured(0) + .milliseconds(10))
        #expect(results.allSatisfy { $0.fault == nil })
        for number in 1..<50 { #expect(isClose(results[number], Self.captured(number)), "\(number)") }
    }

    @Test("another clock, a minute off or more, is not used at all", arguments: [-61, 61, 100_000])
    func otherClock(seconds: Int) {
        let results = correct(shifts: (0..<10).map { _ in .seconds(seconds) })
        for number in 0..<10 { #expect(results[number].time == Self.captured(number) + .milliseconds(10)) }
        #expect(results.allSatisfy { $0.fault == nil })
    }

    @Test(
        "in a stream that starts again a known fault stays corrected, and a new one or none is found at once",
        arguments: [0, -10, 10], [0, -10, -3, 10])
    func restart(before: Int, after: Int) {
        var times = TimestampCorrection(frameDuration: Self.interval, start: Self.start)
        for number in 0..<200 {
            if number == 100 {
                times.restart(
                    frameDuration: Self.interval, at: Self.captured(number + 500) - .milliseconds(300))
            }
            let captured = Self.captured(number < 100 ? number : number + 500)
            let shift = number < 50 ? 0 : number < 100 ? before : after
            let result = times.correct(captured + .seconds(shift), arrival: captured + .milliseconds(10))
            #expect(isClose(result, captured), "\(number)")
            #expect((result.fault == nil) == (shift == 0), "\(number)")
        }
    }

    @Test("a clock that jumps for good goes on as before", arguments: [-10, -0.5, -50, -100, 5, 1000])
    func jump(seconds: Double) {
        let jump = Duration.seconds(seconds)
        let results = correct(shifts: (0..<100).map { $0 < 50 ? .zero : jump })
        for number in 0..<100 { #expect(isClose(results[number], Self.captured(number)), "\(number)") }
        #expect(results[..<50].allSatisfy { $0.fault == nil })
        for result in results[50...] {
            guard case .jumped(let found)? = result.fault else {
                Issue.record("no jump")
                continue
            }
            #expect((found - jump).magnitude < .milliseconds(20))
        }
    }

    @Test("a single picture out of time changes no other", arguments: [-10, -50, 10, 500])
    func single(seconds: Int) {
        let results = correct(shifts: (0..<100).map { $0 == 50 ? .seconds(seconds) : .zero })
        for number in 0..<100 { #expect(isClose(results[number], Self.captured(number)), "\(number)") }
        #expect(results.filter { $0.fault != nil }.count == 1)
    }

    @Test("a clock that jumps again and again is followed")
    func jumps() {
        let shifts = (0..<400).map { Duration.seconds([0, -10, -15, 0][$0 / 100]) }
        let results = correct(shifts: shifts)
        for number in 0..<400 { #expect(isClose(results[number], Self.captured(number)), "\(number)") }
        #expect(results[300...].allSatisfy { $0.fault == nil })
    }

    @Test("corrected times never go back, whatever arrives", arguments: 0..<20)
    func order(seed: Int) {
        var times = TimestampCorrection(frameDuration: Self.interval, start: Self.start)
        var (state, last) = (UInt64(seed) &* 7919 &+ 1, Instant.distantPast)
        var hasCorrected = false
        for number in 0..<500 {
            state = state &* 6_364_136_223_846_793_005 &+ 1
            let noise = Duration.milliseconds(Int(state >> 40) % 60_000 - 30_000)
            let captured = Self.captured(number)
            let claimed = state >> 33 & 7 == 0 ? captured + noise : captured
            let result = times.correct(claimed, arrival: captured + .milliseconds(10))
            hasCorrected = hasCorrected || result.fault != nil
            if hasCorrected { #expect(result.time > last) }
            last = result.time
        }
    }
}
