import Bitstream
import Glibc
import Testing
import Time

@testable import Output

/// How a live output serves a server, unlike a receiver. The test drives every round and the clock.
@Suite struct PublishingLoopTests {
    private func bytes(_ units: some Sequence<AccessUnit>) -> [UInt8] { units.flatMap(\.allBytes) }

    /// A failed `==` would print all the bytes.
    private func same(_ one: [UInt8], _ other: some Sequence<AccessUnit>) -> Bool { one == bytes(other) }

    @Test("a server that comes late gets everything from the latest keyframe on, and counts it once")
    func latestKeyframe() throws {
        let bench = try LiveBench(mostReceivers: 1, startsAtLatestKeyframe: true)
        let before = bench.frames(13)
        let server = try bench.connect()
        let after = bench.frames(4)
        #expect(same(server.read(), before[10...] + after))
        #expect(bench.keyframeRequests == 0, "there is a keyframe already")
        server.leave()
        let between = bench.frames(2)
        let another = try bench.connect()
        let last = bench.frames(1)
        #expect(same(another.read(), before[10...] + after + between + last))
        #expect(bench.receivers[1].units == 10)
        let taken = bench.ledger.taken
        #expect(taken.units == 10 && taken.keyframes == 1)
        #expect(taken.bytes == bytes(before[10...] + after + between + last).count)
    }

    @Test("a keyframe that is older than the buffer is not kept for it")
    func oldKeyframe() throws {
        let bench = try LiveBench(mostReceivers: 1, keyframeInterval: 1000, startsAtLatestKeyframe: true)
        _ = bench.frames(70)
        let server = try bench.connect()
        #expect(bench.keyframeRequests == 1)
        let keyframe = bench.frame(isIDR: true)
        #expect(server.read() == keyframe.allBytes)
    }

    @Test("says goodbye after everything else, at the stream's end only")
    func farewell() throws {
        let bench = try LiveBench(mostReceivers: 2)
        bench.source.farewell = Array("TEARDOWN".utf8)
        let (server, other) = (try bench.connect(), try bench.connect())
        let units = bench.frames(3)
        other.leave()
        bench.buffer.finish()
        bench.round()
        #expect(server.read() == bytes(units) + Array("TEARDOWN".utf8))
        #expect(server.hasEnded)
    }

    @Test("whatever a server says is read, so that it never blocks")
    func talkative() throws {
        let bench = try LiveBench(mostReceivers: 1)
        let server = try bench.connect()
        for _ in 0..<300 {
            server.say(String(repeating: "report ", count: 1000))
            bench.round()
        }
        let unit = bench.frame(isIDR: true)
        #expect(server.read() == unit.allBytes)
        #expect(server.unread == 0)
    }
}
