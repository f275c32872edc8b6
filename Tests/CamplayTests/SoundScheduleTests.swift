import Testing
import CamPlatform

@testable import camplay

/// When sound is handed to the loudspeaker.
@Suite struct SoundScheduleTests {
    private var schedule = SoundSchedule()

    @Test("sound that would be heard on time is handed over as it is")
    mutating func onTime() {
        #expect(schedule.next(lead: .zero, queued: .milliseconds(50)) == .play(stretch: .zero))
        #expect(
            schedule.next(lead: .milliseconds(40), queued: .zero) == .play(stretch: .microseconds(2_500)))
        #expect(schedule.deviation == .microseconds(2_500))
    }

    @Test("while the queue is full, sound waits until half of it has been heard")
    mutating func full() {
        #expect(schedule.next(lead: .zero, queued: .milliseconds(120)) == .wait(.milliseconds(60)))
        // Even if it is late: what is before it is later still.
        #expect(schedule.next(lead: .seconds(-1), queued: .milliseconds(200)) == .wait(.milliseconds(140)))
    }

    @Test("at first it is exact: more is left out, and silence is put in for less")
    mutating func first() {
        #expect(schedule.next(lead: .milliseconds(-42), queued: .zero) == .leaveOut)
        #expect(schedule.next(lead: .milliseconds(-20), queued: .zero) == .leaveOut)
        #expect(schedule.next(lead: .milliseconds(2), queued: .zero) == .silence(.milliseconds(2)))
        #expect(schedule.next(lead: .zero, queued: .milliseconds(2)) == .play(stretch: .zero))
        // From here on it may be a little off.
        #expect(
            schedule.next(lead: .milliseconds(-48), queued: .milliseconds(20))
                == .play(stretch: .milliseconds(-3)))
    }

    @Test("silence fills a gap, but only as much as the queue may have")
    mutating func gap() {
        #expect(schedule.next(lead: .milliseconds(90), queued: .zero) == .silence(.milliseconds(90)))
        #expect(schedule.next(lead: .seconds(5), queued: .zero) == .wait(.milliseconds(4_880)))
        #expect(schedule.next(lead: .milliseconds(90), queued: .milliseconds(50)) == .wait(.milliseconds(20)))
    }

    @Test("sound that is too late is left out")
    mutating func late() {
        _ = schedule.next(lead: .zero, queued: .zero)
        #expect(
            schedule.next(lead: .milliseconds(-60), queued: .zero) == .play(stretch: .microseconds(-3_750)))
        #expect(schedule.next(lead: .milliseconds(-61), queued: .zero) == .leaveOut)
        // Its deviation does not count for what follows.
        #expect(schedule.next(lead: .zero, queued: .zero) == .play(stretch: .zero))
    }

    @Test(
        "a loudspeaker that is fast or slow by 500 millionths is followed without a gap",
        arguments: [500.0, -500])
    mutating func drift(millionths: Double) throws {
        // Of packets of 20 ms: when the last sample in the queue will be heard, on the loudspeaker's clock.
        var (now, end, stretch) = (0.0, 0.0, 0.0)
        for packet in 0..<(600 * 50) {
            let due = Double(packet) * 0.02 + 0.05
            var isHandedOver = false
            while !isHandedOver {
                let queued = max(0, end - now)
                switch schedule.next(lead: .seconds(due - now - queued), queued: .seconds(queued)) {
                case .wait(let duration): now += duration.inSeconds
                case .silence(let duration):
                    try #require(packet == 0)
                    end = max(end, now) + duration.inSeconds
                case .play(let stretched):
                    // The stretching is spread over a second.
                    stretch = stretched.inSeconds
                    end = max(end, now) + 0.02 * (1 + stretch) * (1 - millionths / 1e6)
                    isHandedOver = true
                case .leaveOut:
                    Issue.record("left out at \(due) s")
                    return
                }
            }
            if due > 10 { try #require(abs(schedule.deviation.inSeconds) < 0.002) }
        }
    }
}
