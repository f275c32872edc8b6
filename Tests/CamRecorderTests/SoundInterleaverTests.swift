import Bitstream
import CamSound
import Testing
import CamPlatform

@testable import CamRecorder

/// Sound comes before the first picture that is shown after it begins, whichever arrives first.
@Suite struct SoundInterleaverTests {
    /// What comes out, as `p` and `s` with milliseconds.
    private func order(_ items: [OutputItem], holdsPictures: Bool = true, ends: Bool = true) -> [String] {
        var interleaver = SoundInterleaver(holdsPictures: holdsPictures)
        var result: [String] = []
        func take() { while let next = interleaver.next() { result.append(Self.name(next)) } }
        for item in items {
            interleaver.add(item)
            take()
        }
        if ends {
            interleaver.end()
            take()
        }
        return result
    }

    private static func name(_ item: OutputItem) -> String {
        switch item {
        case .unit(let unit): "p\((unit.timestamp - .start).inMilliseconds)"
        case .sound(let packet): "s\((packet.timestamp - .start).inMilliseconds)"
        case .stream: "stream"
        case .event: "event"
        case .keeping: "keeping"
        case .soundEnd: "end of sound"
        }
    }

    private func picture(_ milliseconds: Int, isIDR: Bool = false) -> OutputItem {
        .unit(accessUnit(isIDR: isIDR, timestamp: .start + .milliseconds(milliseconds)))
    }

    private func sound(_ milliseconds: Int) throws -> OutputItem {
        .sound(
            try #require(
                SoundPacket(timestamp: .start + .milliseconds(milliseconds), duration: .milliseconds(20))))
    }

    @Test("a picture waits for the sound before it")
    func late() throws {
        let items = [picture(0), try sound(-10), picture(33), try sound(10), try sound(30), try sound(50)]
        #expect(order(items) == ["s-10", "p0", "s10", "s30", "p33", "s50"])
    }

    @Test("sound that is early waits for its pictures, and what begins after the last is left out")
    func early() throws {
        let sounds = try (0..<20).map { try sound(20 * $0) }
        #expect(
            order(sounds + [picture(0), picture(33), picture(66)])
                == ["p0", "s0", "s20", "p33", "s40", "s60", "p66", "s80", "s100"])
    }

    @Test("a picture that is coded before others and shown after them takes the sound with it")
    func reordered() throws {
        let sounds = try (0..<8).map { try sound(20 * $0) }
        #expect(
            order(sounds + [picture(0), picture(99), picture(33), picture(66)])
                == ["p0", "s0", "s20", "s40", "s60", "s80", "p99", "p33", "p66", "s100", "s120"])
    }

    @Test("pictures wait a second for sound that does not come")
    func missing() {
        let items = (0..<60).map { picture(33 * $0) }
        #expect(order(items, ends: false).count == 29)
        #expect(order(items).count == 60)
    }

    @Test("where nobody is to wait, both go on as they come")
    func live() throws {
        let items = [try sound(-20), picture(0), try sound(0), picture(33), try sound(20)]
        #expect(order(items, holdsPictures: false) == ["s-20", "p0", "s0", "p33", "s20"])
    }

    @Test("pictures do not wait for sound that has ended")
    func ended() throws {
        let items = [picture(0), try sound(0), picture(33), .soundEnd, picture(66), picture(99)]
        #expect(order(items, ends: false) == ["p0", "s0", "p33", "end of sound", "p66", "p99"])
    }
}
