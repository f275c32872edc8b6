import Bitstream
import Glibc
import CamNetworking
import Synchronization
import TestSupport
import Testing
import CamPlatform
@testable import CamDelivery

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
        #expect(bench.ledger.lost == 10, "what came before the latest keyframe")
        server.leave()
        let between = bench.frames(2)
        let another = try bench.connect()
        let last = bench.frames(1)
        #expect(same(another.read(), before[10...] + after + between + last))
        #expect(bench.receivers[1].units == 10)
        let taken = bench.ledger.taken
        #expect(taken.units == 10 && taken.keyframes == 1)
        #expect(taken.bytes == bytes(before[10...] + after + between + last).count)
        #expect(bench.ledger.lost == 10, "the others came late, or twice")
    }

    @Test(
        "what no server got is lost, as soon as none can get it any more; sound is no frame",
        arguments: [0, 2])
    func lost(soundsPerFrame: Int) throws {
        let bench = try LiveBench(mostReceivers: 1, startsAtLatestKeyframe: true)
        bench.soundsPerFrame = soundsPerFrame
        let server = try bench.connect()
        _ = bench.frames(4)
        #expect(bench.ledger.lost == 0)
        #expect(bench.ledger.taken.units == 4)
        server.leave()
        _ = bench.frames(8)
        #expect(bench.ledger.lost == 6, "from the fifth to the keyframe at the eleventh")
        _ = bench.frames(10)
        #expect(bench.ledger.lost == 16)
    }

    @Test("what a server that had left never confirmed is not received, and not repeated by the next one")
    func takenBack() throws {
        let bench = try LiveBench(mostReceivers: 1, startsAtLatestKeyframe: true)
        try bench.connect(isTCP: true).leave()
        let units = bench.frames(3)
        #expect(bench.receivers[0].departure == .closed)
        #expect(bench.receivers[0].units == 0)
        #expect(bench.receivers[0].unconfirmedBytes > 0)
        #expect(bench.ledger.taken == ReceiverLedger.Taken())
        let next = try bench.connect(isTCP: true)
        let last = bench.frames(1)
        #expect(same(next.read(), units + last))
        #expect(bench.ledger.taken.units == 4)
        #expect(bench.ledger.lost == 0)
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

    @Test("a relay knows why its peer is gone, and what that may not have got", .hangGuard)
    func relay() throws {
        let bench = try LiveBench(mostReceivers: 1)
        let begun = CancellationFlag()!
        let (near, relay) = try startRelay { (_, relay) throws(Relay.Failure) in
            _ = begun.wait()
            relay.noteConfirmed(1500)
            throw .failed(detail: "the peer is gone")
        }
        bench.source.relay = relay
        let peer = try bench.connect()
        let units = bench.frames(2)
        begun.raise()
        near.waitForEnd()
        peer.leave()
        bench.round()
        #expect(bench.receivers[0].departure == .failed(detail: "the peer is gone"))
        #expect(bench.receivers[0].departure?.description == "connection lost: the peer is gone")
        #expect(bench.receivers[0].unconfirmedBytes == bytes(units).count - 1500)
    }

    @Test(
        "what a relay's peer confirmed nothing of was not received, where that is certain",
        .hangGuard, arguments: [true, false])
    func refused(unconfirmedIsLost: Bool) throws {
        let bench = try LiveBench(mostReceivers: 1, startsAtLatestKeyframe: true)
        let begun = CancellationFlag()!
        let (near, relay) = try startRelay(unconfirmedIsLost: unconfirmedIsLost) {
            (_, _) throws(Relay.Failure) in
            _ = begun.wait()
            throw .broken(errno: EACCES)
        }
        bench.source.relay = relay
        let peer = try bench.connect()
        _ = bench.frames(2)
        begun.raise()
        near.waitForEnd()
        peer.leave()
        bench.round()
        #expect(bench.receivers[0].departure == .broken(errno: EACCES))
        #expect(bench.receivers[0].unconfirmedBytes > 0)
        #expect(bench.ledger.taken.units == (unconfirmedIsLost ? 0 : 2))
    }

    @Test(
        "the stream has ended for a relay once it has sent the rest, which may fail", .hangGuard,
        arguments: [nil, Relay.Failure.silent(for: .seconds(2))])
    func relayEnd(failure: Relay.Failure?) throws {
        let bench = try LiveBench(mostReceivers: 1)
        bench.source.farewell = Array("TEARDOWN".utf8)
        let (near, relay) = try startRelay { (_, _) throws(Relay.Failure) in
            if let failure { throw failure }
        }
        near.waitForEnd()
        // This one's socket is still open: the relay has something to send.
        bench.source.relay = relay
        let peer = try bench.connect()
        let units = bench.frames(2)
        bench.buffer.finish()
        #expect(bench.round() && bench.round(), "goes on while the relay is at work")
        #expect(bench.receivers[0].departure == nil)
        #expect(peer.read() == bytes(units) + Array("TEARDOWN".utf8))
        peer.leave()
        #expect(!bench.round())
        #expect(bench.receivers[0].departure == (failure == nil ? .ended : .silent(for: .seconds(2))))
    }

    @Test("a relay that does not send the rest in time is cut off", .hangGuard)
    func relayCutOff() throws {
        let bench = try LiveBench(mostReceivers: 1)
        let (_, relay) = try startRelay { (_, _) throws(Relay.Failure) in }
        bench.source.relay = relay
        let peer = try bench.connect()
        let units = bench.frames(2)
        bench.buffer.finish()
        #expect(bench.round())
        bench.now += .seconds(3)
        #expect(!bench.round())
        #expect(bench.receivers[0].departure == .cutOff)
        #expect(bench.receivers[0].unconfirmedBytes == bytes(units).count)
        #expect(peer.read() == bytes(units))
    }

    /// A relay's near end.
    private final class NearEnd {
        let socket: Socket
        init(_ socket: consuming Socket) { self.socket = socket }

        /// Waits until the relay has ended, which closes its end.
        func waitForEnd() { _ = socket.waitUntilReadable() }
    }

    private func startRelay(
        unconfirmedIsLost: Bool = true, _ work: @escaping Relay.Work
    ) throws -> (NearEnd, Relay) {
        let started = try Relay.start(unconfirmedIsLost: unconfirmedIsLost, work)
        let relay = started.relay
        return (NearEnd(started.takeSocket()), relay)
    }

    @Test("a relay gets what was written before its socket was closed", .hangGuard)
    func relayed() throws {
        let counter = Counter()
        let (near, relay) = try startRelay { (socket, _) throws(Relay.Failure) in
            var room = [UInt8](repeating: 0, count: 4096)
            while true {
                switch room.withUnsafeMutableBytes({ socket.receive(into: $0) }) {
                case .received(let count): counter.total.add(count, ordering: .relaxed)
                case .nothing: _ = WaitResult.wait(for: socket.descriptor, unless: nil)
                case .ended, .broken: return
                }
            }
        }
        let sent = send(1_000_000, to: near.socket)
        near.socket.shutDownWriting()
        near.waitForEnd()
        #expect(counter.total.load(ordering: .relaxed) == sent)
        #expect(relay.failure == nil)
    }

    private final class Counter: Sendable { let total = Atomic<Int>(0) }

    /// Sends at least so many bytes.
    private func send(_ count: Int, to socket: borrowing Socket) -> Int {
        let bytes = [UInt8](repeating: 7, count: 100_000)
        var sent = 0
        while sent < count {
            switch bytes.withUnsafeBytes({ socket.send($0) }) {
            case .sent(let more): sent += more
            case .full, .exhausted: _ = WaitResult.wait(for: socket.descriptor, POLLOUT, unless: nil)
            case .broken: return sent
            }
        }
        return sent
    }

    @Test("bytes of the last seconds, and not of those before")
    func recentBytes() {
        var recent = RecentBytes(within: .seconds(6))
        for second in 0..<100 { recent.note(1000, at: .start + .seconds(second)) }
        #expect((6000...8000).contains(recent.count(at: .start + .seconds(99))))
        #expect(recent.count(at: .start + .seconds(200)) == 0)
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
