import Testing
import CamPlatform

@testable import CamInspection

/// The sound of a container.
@Suite struct InspectedSoundTests {
    @Test("says how it is coded, its rate, and where it begins and ends")
    func text() {
        var sound = InspectedSound(codec: "AAC", rate: 48_000, channels: 2)
        #expect(sound.text == "AAC, 48000 Hz, 2 channels, no packets")
        #expect(sound.bitRate == nil)
        for index in 0..<100 {
            sound.note(at: .milliseconds(20 * index - 5), duration: .milliseconds(20), byteCount: 250)
        }
        #expect(sound.packetCount == 100 && sound.byteCount == 25_000)
        #expect(sound.bitRate == 100_000)
        #expect(sound.text == "AAC, 48000 Hz, 2 channels, 100 kbit/s, from -0.005 to 1.995 s")
    }

    @Test("adds up what is missing, apart from a container's rounding")
    func gaps() {
        var sound = InspectedSound(codec: "Opus", rate: 48_000, channels: 1)
        for time in [0, 20_500, 40_000, 160_000, 180_000, 1_200_000] {
            sound.note(at: .microseconds(time), duration: .milliseconds(20), byteCount: 100)
        }
        #expect(sound.gaps == .milliseconds(1100))
        #expect(sound.text.hasSuffix("from 0 to 1.22 s; 1.1 s are missing in it"))
    }

    @Test("a packet whose duration nobody knows ends where it begins")
    func unknownDuration() {
        var sound = InspectedSound(codec: "FLAC", rate: 44_100, channels: 1)
        sound.note(at: .zero, duration: .zero, byteCount: 100)
        sound.note(at: .seconds(2), duration: .zero, byteCount: 100)
        #expect(sound.gaps == .zero)
        sound = InspectedSound(codec: "FLAC", rate: 44_100, channels: 1)
        sound.note(at: .zero, duration: .zero, byteCount: 100)
        #expect(sound.bitRate == nil && sound.text.contains("no duration"))
    }

    @Test("joined recordings, whose times start again, follow each other")
    func joined() {
        var sound = InspectedSound(codec: "AAC", rate: 48_000, channels: 1)
        for _ in 0..<5 {
            for index in 0..<50 {
                sound.note(at: .milliseconds(20 * index + 3), duration: .milliseconds(20), byteCount: 250)
            }
        }
        #expect(sound.text == "AAC, 48000 Hz, 1 channel, 100 kbit/s, from 0.003 to 5.003 s")
    }
}
