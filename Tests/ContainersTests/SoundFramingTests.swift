import CamSound
import Testing
import CamPlatform
@testable import Containers

/// A container's packets of sound, and their times.
@Suite struct SoundFramingTests {
    private static let aac = SoundDescription(
        codec: .aac, format: SoundFormat(rate: 48_000, channels: 2), configuration: [0x11, 0x90],
        packetFrames: 1024)
    /// As a transport stream declares it.
    private static let undeclared = SoundDescription(
        codec: .aac, format: SoundFormat(rate: 0, channels: 0), configuration: [], packetFrames: 0)

    /// When a packet begins, in microseconds; nil if it is left out.
    private func begin(
        _ framing: inout SoundFraming, at time: Duration?, bytes: [UInt8] = [1, 2, 3]
    ) -> Int64? {
        bytes.withUnsafeBytes { framing.packet($0, at: time) }
            .map { ($0.timestamp - .start).inNanoseconds / 1000 }
    }

    @Test("times that a container rounded are even again, and a real gap stays")
    func evenTimes() {
        var framing = SoundFraming(Self.aac)
        let times = [0, 21, 43, 64, 200, 221].map { begin(&framing, at: .milliseconds($0)) }
        #expect(times == [0, 21_333, 42_666, 64_000, 200_000, 221_333])
        // Without a time, it follows.
        #expect(begin(&framing, at: nil) == 242_666)
        framing.interrupt()
        #expect(begin(&framing, at: nil) == nil)
    }

    @Test("a time far from both the sound before it and the pictures is stray")
    func strayTimes() {
        var framing = SoundFraming(Self.aac)
        #expect(!framing.isStray(.seconds(90_000), near: .zero))
        #expect(begin(&framing, at: .zero) == 0)
        #expect(framing.isStray(.seconds(90_000), near: .milliseconds(20)))
        #expect(framing.isStray(.seconds(-90_000), near: .milliseconds(20)))
        #expect(!framing.isStray(.milliseconds(21), near: .seconds(90_000)))
        #expect(!framing.isStray(.seconds(90_000), near: .seconds(90_000)))
        #expect(!framing.isStray(.seconds(90_000), near: nil))
    }

    @Test("a transport stream's packets describe themselves, also when they change")
    func adts() {
        var framing = SoundFraming(Self.undeclared)
        #expect(framing.description == nil)
        let stereo: [UInt8] = [0xFF, 0xF1, 0x4C, 0x80, 0x01, 0x1F, 0xFC, 0x21]
        let mono: [UInt8] = [0xFF, 0xF1, 0x50, 0x40, 0x01, 0x1F, 0xFC, 0x21]
        #expect(begin(&framing, at: .zero, bytes: stereo) == 0)
        #expect(framing.description?.format == SoundFormat(rate: 48_000, channels: 2))
        #expect(begin(&framing, at: .milliseconds(500), bytes: mono) == 500_000)
        #expect(framing.description?.format == SoundFormat(rate: 44_100, channels: 1))
        #expect(begin(&framing, at: .zero, bytes: [1, 2, 3]) == nil)
    }

    @Test("a packet that is larger than any sound is left out")
    func largePacket() {
        var framing = SoundFraming(Self.aac)
        #expect(begin(&framing, at: .zero, bytes: Array(repeating: 0, count: 1 << 20)) == 0)
        #expect(begin(&framing, at: .milliseconds(21), bytes: Array(repeating: 0, count: 1 << 20 + 1)) == nil)
    }
}
