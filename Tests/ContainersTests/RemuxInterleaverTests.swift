import CamSound
import Testing
import CamPlatform
@testable import Containers

/// Sound between pictures, where recordings were joined, too.
@Suite struct RemuxInterleaverTests {
    private var sounds = RemuxInterleaver(nil)

    /// What is written: pictures and sound, each with its time in milliseconds.
    private var written: [String] = []

    private mutating func hear(_ times: Int...) throws {
        for time in times {
            sounds.append(
                try #require(
                    SoundPacket(
                        [0], timestamp: .start + .milliseconds(time), duration: .milliseconds(20))))
        }
    }

    private mutating func see(_ time: Int, isIDR: Bool = false) {
        sounds.note(.milliseconds(time), isIDR: isIDR)
        while let sound = sounds.next() { note(sound) }
        written.append("picture \(time)")
    }

    private mutating func note(_ sound: SoundPacket) {
        written.append("sound \(((sound.timestamp - .start) as Duration).inMilliseconds)")
    }

    private mutating func end() -> [String] {
        while let sound = sounds.rest() { note(sound) }
        return written
    }

    @Test("goes before the first picture that is shown later")
    mutating func order() throws {
        see(0, isIDR: true)
        try hear(0, 20, 40, 60)
        see(33)
        see(66)
        #expect(
            end() == ["picture 0", "sound 0", "sound 20", "picture 33", "sound 40", "sound 60", "picture 66"])
    }

    @Test(
        "of a recording that ends goes before the next one's pictures, even if that one's sound came before them"
    )
    mutating func joined() throws {
        see(0, isIDR: true)
        try hear(0, 200, 400, 600)
        see(500)
        try hear(0, 200)
        see(0, isIDR: true)
        see(300)
        try hear(400)
        #expect(
            end() == [
                "picture 0", "sound 0", "sound 200", "sound 400", "picture 500", "sound 600",
                "picture 0", "sound 0", "sound 200", "picture 300", "sound 400",
            ])
    }

    @Test("of a recording before is not taken for the next one's")
    mutating func late() throws {
        see(0, isIDR: true)
        try hear(0, 4_980)
        see(5_000)
        see(0, isIDR: true)
        try hear(5_000, 5_020, 0, 20)
        see(33)
        #expect(
            end() == [
                "picture 0", "sound 0", "sound 4980", "picture 5000", "picture 0", "sound 0", "sound 20",
                "picture 33",
            ])
    }

    @Test("of a second recording is kept where the first had none")
    mutating func silentFirst() throws {
        see(0, isIDR: true)
        see(5_000)
        see(0, isIDR: true)
        try hear(0, 20)
        see(33)
        #expect(
            end() == ["picture 0", "picture 5000", "picture 0", "sound 0", "sound 20", "picture 33"])
    }

    @Test("three recordings are kept apart")
    mutating func three() throws {
        for _ in 0..<3 {
            try hear(-10, 490)
            see(0, isIDR: true)
            see(500)
        }
        let one = ["sound -10", "picture 0", "sound 490", "picture 500"]
        #expect(end() == one + one + one)
    }

    @Test("pictures that are only reordered, or step back a little, begin no recording")
    mutating func reordered() throws {
        see(0, isIDR: true)
        try hear(100, 700)
        see(600)
        see(200)
        see(540, isIDR: true)
        #expect(
            end() == ["picture 0", "sound 100", "picture 600", "picture 200", "picture 540", "sound 700"])
    }
}
