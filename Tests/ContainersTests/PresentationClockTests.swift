import Bitstream
import CamPictures
import Testing
import CamPlatform
@testable import Containers

/// Converting a camera's times to a container's.
@Suite struct PresentationClockTests {
    private static let frame: Int64 = 40_000_000

    private func clock(_ ticksPerSecond: Int64 = 1000) -> PresentationClock {
        PresentationClock(ticksPerSecond: ticksPerSecond, frameDuration: .nanoseconds(Self.frame))
    }

    private func times(_ timestamps: [Int64], _ ticksPerSecond: Int64 = 1000) -> [Int64] {
        var clock = clock(ticksPerSecond)
        return timestamps.enumerated().map { clock.time(number: $0, timestamp: Instant(nanoseconds: $1)) }
    }

    @Test("the first picture is at 0, the others at their time of capture")
    func capture() {
        #expect(times([7_000_000_000, 7_040_000_000, 7_120_400_000, 7_120_600_000]) == [0, 40, 120, 121])
    }

    @Test("rounds ticks to the nearest without drift")
    func rounding() {
        let timestamps = (0..<1000).map { Int64($0) * 33_333_333 }
        for (time, timestamp) in zip(times(timestamps, 90_000), timestamps) {
            #expect(abs(Double(time) - Double(timestamp) * 90e-6) <= 0.5)
        }
    }

    @Test("a clock that repeats or jitters back still gives increasing times")
    func jitter() {
        #expect(
            times([0, 40_000_000, 40_000_000, 20_000_000, 41_000_000, 80_000_000]) == [0, 40, 41, 42, 43, 80])
    }

    @Test(
        "continues from the last picture when the clock is set",
        arguments: [
            0, -50_000_000_000, .min, 5_000_000_000_000_000, .max,
        ] as [Int64])
    func steps(to start: Int64) {
        let before: [Int64] = [1_000_000_000_000, 1_000_040_000_000]
        let after = [start, start &+ Self.frame]
        #expect(times(before + after) == [0, 40, 80, 120])
    }

    @Test("a following recording of a second continues from its last picture")
    func joinedRecordings() {
        let second = (0..<25).map { Int64($0) * Self.frame }
        #expect(times(second + second) == (0..<50).map { Int64($0) * 40 })
    }

    @Test("survives a clock that jumps between the ends of time")
    func extremes() {
        let all = times((0..<100).map { $0 % 2 == 0 ? .max : .min })
        #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("an early picture leaves room for those presented before it")
    func reordered() {
        var clock = clock()
        // All at the same time: a clock that stands still.
        let numbers = [0, 4, 2, 1, 3, 8, 6, 5, 7]
        let byNumber = numbers.map { ($0, clock.time(number: $0, timestamp: Instant(nanoseconds: 5))) }.sorted
        { $0 < $1 }
        #expect(zip(byNumber, byNumber.dropFirst()).allSatisfy { $0.1 < $1.1 })
        #expect(byNumber[0].1 == 0)
    }

    @Test("reordered pictures have their time of capture")
    func reorderedCapture() {
        var clock = clock()
        for number in [0, 4, 2, 1, 3, 8, 6, 5, 7] {
            let timestamp = Instant(nanoseconds: 9 + Int64(number) * Self.frame)
            #expect(clock.time(number: number, timestamp: timestamp) == Int64(number) * 40)
        }
    }

    @Test("distant numbers take no more room than pictures can need")
    func gaps() {
        var clock = clock()
        _ = clock.time(number: 0, timestamp: .start)
        #expect(clock.time(number: .max, timestamp: Instant(nanoseconds: Self.frame)) == 40)
    }
}

/// When pictures are decoded.
@Suite struct PacketClockTests {
    private func clock(reordering: Int) -> PacketClock {
        PacketClock(
            ticksPerSecond: 1000,
            stream: StreamDescription(
                codec: .h264, width: 64, height: 48, frameRate: FrameRate(announced: 25, in: 1),
                reordering: reordering), largestStep: ContainerFormat.mp4.largestStep)
    }

    private func times(_ numbers: [Int], reordering: Int) -> [PacketClock.Times] {
        var clock = clock(reordering: reordering)
        return numbers.map { clock.times(number: $0, timestamp: .start + .milliseconds(40) * $0) }
    }

    private func isInOrder(_ times: [PacketClock.Times]) -> Bool {
        times.allSatisfy { $0.decoding <= $0.presentation }
            && zip(times, times.dropFirst()).allSatisfy { $0.decoding < $1.decoding }
    }

    @Test("without reordering a picture is decoded when it is presented")
    func plain() {
        #expect(times([0, 1, 2], reordering: 0).allSatisfy { $0.decoding == $0.presentation })
    }

    @Test("with reordering, decoding begins that much earlier, and is never late")
    func reordered() {
        let times = times([0, 4, 2, 1, 3, 8, 6, 5, 7], reordering: 2)
        #expect(times.map(\.decoding) == [-80, -40, 0, 40, 80, 120, 160, 200, 240])
        #expect(times.map(\.presentation) == [0, 160, 80, 40, 120, 320, 240, 200, 280])
    }

    @Test("survives a declared reordering above the real one", arguments: [3, 16, 1000, -1])
    func tooMuch(reordering: Int) {
        let times = times([0, 1, 2, 3, 4, 5], reordering: reordering)
        #expect(isInOrder(times))
        #expect(times.map(\.presentation) == [0, 40, 80, 120, 160, 200])
    }

    @Test("with less than the real one, presents pictures late, still in decoding order")
    func tooLittle() { #expect(isInOrder(times([0, 4, 2, 1, 3, 8, 6, 5, 7], reordering: 0))) }

    @Test(
        "a camera away for a day leaves a day in Matroska, and a frame where there is no room for it"
    )
    func longOutage() {
        func gap(_ format: ContainerFormat) -> Int64 {
            var clock = PacketClock(
                ticksPerSecond: 1000,
                stream: StreamDescription(
                    codec: .h264, width: 64, height: 48, frameRate: FrameRate(announced: 25, in: 1)),
                largestStep: format.largestStep)
            _ = clock.times(number: 0, timestamp: .start)
            return clock.times(number: 1, timestamp: .start + .seconds(86_400)).presentation
        }
        #expect(ContainerFormat.allCases.map(gap) == [86_400_000, 40, 40])
    }

    @Test("bounds useless frame rates", arguments: [1, 1_000_000_000])
    func rates(denominator: Int) {
        var clock = PacketClock(
            ticksPerSecond: 90_000,
            stream: StreamDescription(
                codec: .h264, width: 64, height: 48, frameRate: FrameRate(announced: 1, in: denominator),
                reordering: 16), largestStep: ContainerFormat.mp4.largestStep)
        // MP4 has 31 bits for a duration.
        #expect((1...Int64(Int32.max)).contains(clock.frameTicks))
        #expect(clock.times(number: 0, timestamp: .start).presentation == 0)
    }
}
