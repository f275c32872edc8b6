import Testing
import CamPlatform

@testable import camplay

/// When a live stream's sound is due.
@Suite struct LiveSoundTests {
    private static func at(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test("the quickest picture of the last seconds says when something is due")
    func clock() {
        var clock = LiveClock()
        #expect(clock.arrival(of: .zero) == nil)
        clock.note(.milliseconds(0), arrival: Self.at(10_050))
        clock.note(.milliseconds(33), arrival: Self.at(10_043))
        clock.note(.milliseconds(66), arrival: Self.at(10_266))
        #expect(clock.arrival(of: .milliseconds(100)) == Self.at(10_110))
    }

    @Test("a sender whose clock is slow is followed, and so is one whose way has become longer")
    func drift() {
        var clock = LiveClock()
        for second in 0..<60 as Range<Int64> {
            clock.note(.seconds(second), arrival: Self.at(1_000 * second + 20 + 10 * second))
        }
        // That of six seconds ago counts at most.
        let due = clock.arrival(of: .seconds(59)) ?? .start
        #expect((Self.at(59_000 + 20 + 530)...Self.at(59_000 + 20 + 590)).contains(due))
    }

    @Test("camrec's sound is played with the usual delay")
    func usual() {
        var delay = SoundDelay()
        for packet in 0..<2000 as Range<Int64> {
            delay.note(lag: .milliseconds(40 + packet % 40), at: Self.at(20 * packet))
        }
        #expect(delay.value == SoundDelay.usual)
    }

    @Test("sound that a sender collects is played later, but not more than a second")
    func collected() {
        var delay = SoundDelay()
        delay.note(lag: .milliseconds(370), at: Self.at(0))
        #expect(delay.value == .milliseconds(450))
        delay.note(lag: .seconds(5), at: Self.at(400))
        #expect(delay.value == .seconds(1))
    }

    @Test("it becomes shorter when that has sufficed for ten seconds, and not for a little")
    func shorter() {
        var delay = SoundDelay()
        delay.note(lag: .milliseconds(500), at: Self.at(0))
        for time in stride(from: 20, to: 9_990, by: 20) as StrideTo<Int64> {
            delay.note(lag: .milliseconds(100), at: Self.at(time))
        }
        #expect(delay.value == .milliseconds(580))
        for time in stride(from: 9_990, to: 20_100, by: 20) as StrideTo<Int64> {
            delay.note(lag: .milliseconds(100), at: Self.at(time))
        }
        #expect(delay.value == .milliseconds(180))
        for time in stride(from: 20_100, to: 50_000, by: 20) as StrideTo<Int64> {
            delay.note(lag: .milliseconds(60), at: Self.at(time))
        }
        #expect(delay.value == .milliseconds(180))
    }
}
