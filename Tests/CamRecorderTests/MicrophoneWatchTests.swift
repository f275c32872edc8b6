import CamSound
import Testing
import CamPlatform

@testable import CamRecorder

/// What is said about a microphone: each trouble once.
@Suite struct MicrophoneWatchTests {
    private let gone = SoundError(.gone, "m")
    private let noise: [Int16] = [0, 1, -1]

    private func hear(_ watch: inout MicrophoneWatch, _ samples: [Int16], lasting seconds: Int = 1)
        -> SoundEvent?
    {
        samples.withUnsafeBufferPointer { watch.heard($0, lasting: .seconds(seconds)) }
    }

    @Test("it is gone once, and heard again once samples come")
    func outage() {
        var watch = MicrophoneWatch(name: "m")
        #expect(watch.lost(gone, at: .start) == .lost(gone))
        #expect(watch.lost(gone, at: .start + .seconds(5)) == nil)
        #expect(hear(&watch, noise) == .resumed(name: "m"))
        #expect(hear(&watch, noise) == nil)
    }

    @Test("one that is silent or gone because nothing ran is excused for a while")
    func standstill() {
        var watch = MicrophoneWatch(name: "m")
        watch.stoodStill(until: .start + .seconds(10))
        #expect(watch.heardNothing(at: .start + .seconds(10)) == nil)
        #expect(watch.lost(gone, at: .start + .seconds(12)) == nil)
        #expect(hear(&watch, noise) == nil)
        #expect(watch.heardNothing(at: .start + .seconds(14)) == .stalled(name: "m"))
    }

    @Test("a machine that is late again and again excuses a silent one for ten seconds, until it is heard")
    func alwaysLate() {
        var watch = MicrophoneWatch(name: "m")
        func told(_ seconds: Range<Int>) -> Int? {
            seconds.first { second in
                watch.stoodStill(until: .start + .seconds(second))
                return watch.heardNothing(at: .start + .seconds(second)) != nil
            }
        }
        #expect(told(0..<8) == nil)
        #expect(hear(&watch, noise) == nil)
        #expect(told(8..<60) == 18)
    }

    @Test("one that comes and goes is mentioned ever more rarely, and its returns with it")
    func flapping() {
        var watch = MicrophoneWatch(name: "m")
        var told = 0
        for second in 0..<600 {
            if watch.heardNothing(at: .start + .seconds(second)) != nil { told += 1 }
            if hear(&watch, noise) != nil { told += 1 }
        }
        #expect((4...20).contains(told), "\(told)")
    }

    @Test("only zeros for ten seconds are mentioned, but not a quiet room")
    func mute() {
        var watch = MicrophoneWatch(name: "m")
        for _ in 0..<10 {
            _ = hear(&watch, [0, 0])
            #expect(watch.judge(falseRate: nil) == nil)
        }
        _ = hear(&watch, [0, 0])
        #expect(watch.judge(falseRate: nil) == .mute(name: "m"))
        #expect(watch.judge(falseRate: nil) == nil)
        var quiet = MicrophoneWatch(name: "m")
        _ = hear(&quiet, noise)
        for _ in 0..<30 { _ = hear(&quiet, [0, 0]) }
        #expect(quiet.judge(falseRate: nil) == nil)
    }

    @Test("a false rate is mentioned once, and another one again")
    func falseRate() {
        var watch = MicrophoneWatch(name: "m")
        #expect(watch.judge(falseRate: 44_100) == .falseRate(name: "m", measured: 44_100))
        #expect(watch.judge(falseRate: 44_100) == nil)
        #expect(watch.judge(falseRate: 16_000) == .falseRate(name: "m", measured: 16_000))
    }
}
