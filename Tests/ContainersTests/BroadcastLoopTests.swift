import Bitstream
import CTestAllocations
import Glibc
import Testing
import CamPlatform
@testable import CamDelivery
@testable import Containers

/// What receivers of a live output get, and what happens to them. The test drives every round and the clock.
@Suite struct BroadcastLoopTests {
    private func bytes(_ units: some Sequence<AccessUnit>) -> [UInt8] { units.flatMap(\.allBytes) }

    /// A failed `==` would print all the bytes.
    private func same(_ one: [UInt8], _ other: [UInt8]) -> Bool { one == other }

    // MARK: Joining

    @Test("a receiver's first unit is an IDR, and it gets every one after that")
    func joining() throws {
        let bench = try LiveBench()
        _ = bench.frames(3)
        let peer = try bench.connect()
        let units = bench.frames(20)
        #expect(same(peer.read(), bytes(units[7...])))
        #expect(bench.receivers[0].units == 13)
        #expect(bench.receivers[0].bytes == bytes(units[7...]).count)
        #expect(bench.receivers[0].dropped == 0)
        #expect(bench.events == [.joined(peer: "peer")])
    }

    @Test("receivers that join at different times each begin at an IDR")
    func several() throws {
        let bench = try LiveBench()
        var peers: [(Peer, first: Int)] = []
        var units: [AccessUnit] = []
        for number in 0..<35 {
            if number % 4 == 1 { peers.append((try bench.connect(), (number + 9) / 10 * 10)) }
            units.append(bench.frame())
        }
        for (peer, first) in peers { #expect(same(peer.read(), bytes(units[min(first, 35)...]))) }
    }

    @Test("refuses receivers beyond the limit, and the others notice nothing")
    func limit() throws {
        let bench = try LiveBench(mostReceivers: 2)
        let peers = try [bench.connect(), bench.connect()]
        let third = try bench.connect()
        let units = bench.frames(5)
        for peer in peers { #expect(same(peer.read(), bytes(units))) }
        #expect(third.hasEnded)
        #expect(bench.events.contains(.refused(peer: "peer", limit: 2)))
        #expect(bench.ledger.content.count == 2)
    }

    @Test("departed receivers make room at once, even for many that join together")
    func room() throws {
        let bench = try LiveBench(mostReceivers: 2)
        var peers: [Peer] = []
        for _ in 0..<10 {
            peers.append(try bench.announce())
            peers.last?.leave()
        }
        let last = try bench.connect()
        #expect(bench.ledger.content.count == 11)
        let unit = bench.frame()
        #expect(same(last.read(), unit.allBytes))
        #expect(!bench.events.contains { if case .refused = $0 { true } else { false } })
    }

    @Test("refuses a receiver whose descriptor files need, with the reason")
    func reservedDescriptors() throws {
        let bench = try LiveBench(descriptorEnd: 3)
        let peer = try bench.connect()
        #expect(peer.hasEnded)
        #expect(bench.events == [.refusedForFiles(peer: "peer")])
        #expect(bench.events[0].description.hasSuffix("; raise 'ulimit -n'"))
        #expect(bench.ledger.content.refused == 1)
    }

    @Test("without descriptors a receiver waits a second, and then joins")
    func exhausted() throws {
        let bench = try LiveBench()
        bench.source.exhaustion = EMFILE
        let peer = try bench.connect()
        _ = bench.frames(29)
        #expect(peer.read().isEmpty)
        #expect(bench.events == [.exhausted(errno: EMFILE)])
        let units = bench.frames(12)
        #expect(same(peer.read(), bytes(units[11...])))
    }

    @Test("ignores whatever a receiver sends")
    func chatty() throws {
        let bench = try LiveBench()
        let peer = try bench.connect()
        peer.say("GET / HTTP/1.1\r\n\r\n")
        let units = bench.frames(3)
        #expect(same(peer.read(), bytes(units)))
        #expect(bench.receivers[0].departure == nil)
    }

    // MARK: Forced keyframes

    @Test("forces a keyframe for a newcomer far from the next one, at most one a second")
    func forced() throws {
        let bench = try LiveBench(keyframeInterval: 300)
        _ = bench.frames(10)
        #expect(bench.keyframeRequests == 0)
        let peers = try (0..<10).map { _ in try bench.connect() }
        bench.frame()
        #expect(bench.keyframeRequests == 1)
        let late = try bench.connect()
        let idr = bench.frame(isIDR: true)
        for peer in peers + [late] { #expect(same(peer.read(), idr.allBytes)) }
        // Half a second later, the next one has to wait for the other half.
        _ = bench.frames(14)
        let next = try bench.connect()
        bench.frame()
        #expect(bench.keyframeRequests == 1)
        _ = bench.frames(16)
        #expect(bench.keyframeRequests == 2)
        next.leave()
    }

    @Test("forces none a second or less before a regular keyframe")
    func notForced() throws {
        let bench = try LiveBench(keyframeInterval: 300)
        _ = bench.frames(271)
        let peer = try bench.connect()
        let units = bench.frames(40)
        #expect(bench.keyframeRequests == 0)
        #expect(same(peer.read(), bytes(units[29...])))
    }

    @Test("an interval in time counts from the latest keyframe, forced or not, however many frames come")
    func keyframesByTime() throws {
        let bench = try LiveBench(keyframeInterval: 1_000_000, keyframeSeconds: 3)
        // Ten a second, the keyframe two seconds away.
        for _ in 0..<11 { bench.frame(after: .milliseconds(100)) }
        let early = try bench.connect()
        bench.frame(after: .milliseconds(100))
        #expect(bench.keyframeRequests == 1)
        bench.frame(isIDR: true, after: .milliseconds(100))
        // From there 0.9 s are left.
        for _ in 0..<21 { bench.frame(after: .milliseconds(100)) }
        let late = try bench.connect()
        bench.frame(after: .milliseconds(100))
        #expect(bench.keyframeRequests == 1)
        early.leave()
        late.leave()
    }

    @Test("derives the distance of the next keyframe from the frames, not from the nominal rate")
    func slowCamera() throws {
        let bench = try LiveBench(keyframeInterval: 30)
        // In the dark: five frames a second instead of thirty.
        for _ in 0..<5 { bench.frame(after: .milliseconds(200)) }
        let peer = try bench.connect()
        bench.frame(after: .milliseconds(200))
        #expect(bench.keyframeRequests == 1)
        // In the light again, and half a second away from the next one.
        for _ in 0..<15 { bench.frame() }
        let next = try bench.connect()
        bench.frame()
        #expect(bench.keyframeRequests == 1)
        withExtendedLifetime((peer, next)) {}
    }

    @Test("ignores a pause in the camera's rate")
    func pause() throws {
        let bench = try LiveBench(keyframeInterval: 30)
        for _ in 0..<5 { bench.frame() }
        bench.frame(after: .seconds(600))
        // Half a second away from the next one.
        for _ in 0..<9 { bench.frame() }
        let peer = try bench.connect()
        bench.frame()
        #expect(bench.keyframeRequests == 0)
        withExtendedLifetime(peer) {}
    }

    // MARK: Slow receivers

    // With groups of several lengths, because the loss may end where one begins anyway.
    @Test(
        "one that does not read loses whole units up to an IDR, and nobody else loses anything",
        arguments: [7, 9, 10, 11])
    func slow(keyframeInterval: Int) throws {
        let bench = try LiveBench(keyframeInterval: keyframeInterval)
        let (slow, quick) = (try bench.connect(), try bench.connect())
        var units: [AccessUnit] = []
        var received: [UInt8] = []
        // Long enough for the system's buffer to fill up, and for two seconds to pass.
        for _ in 0..<150 {
            units.append(bench.frame(length: 20_000))
            received += quick.read()
        }
        #expect(same(received, bytes(units)))
        let statistics = bench.receivers[0]
        #expect(statistics.units > 0)
        #expect(statistics.dropped > 0)
        #expect(bench.events.contains(.overflowed(peer: "peer")))
        #expect(bench.keyframeRequests == 0)
        // It reads again: the rest of the unit it had begun, and then from an IDR on.
        var late = slow.read()
        for _ in 0..<30 {
            units.append(bench.frame(length: 20_000))
            late += slow.read()
        }
        let sent = bench.receivers[0].units
        #expect(sent + bench.receivers[0].dropped == units.count)
        #expect(same(late, bytes(taken(late, from: units))))
        #expect(bench.receivers[0].longestLag > .seconds(1))
    }

    /// The units that the bytes consist of, by their frame numbers, which must grow.
    private func taken(_ bytes: [UInt8], from units: [AccessUnit]) -> [AccessUnit] {
        var (rest, taken) = (bytes[...], [AccessUnit]())
        var expectsIDR = true
        for unit in units {
            let content = unit.allBytes
            guard rest.starts(with: content), !expectsIDR || unit.isIDR else {
                expectsIDR = true
                continue
            }
            expectsIDR = false
            taken.append(unit)
            rest = rest.dropFirst(content.count)
        }
        return taken
    }

    @Test("a waiting unit still counts as late")
    func lagSoFar() throws {
        let bench = try LiveBench()
        let peer = try bench.connect()
        while bench.receivers[0].units == bench.frameNumber { bench.frame(length: 20_000) }
        let stuckAt = bench.now
        #expect(bench.receivers[0].longestLag < LiveBench.frameDuration)
        for _ in 0..<30 { bench.frame(length: 20_000) }
        #expect(bench.receivers[0].longestLag == bench.now - stuckAt)
        #expect(bench.receivers[0].dropped == 0)
        withExtendedLifetime(peer) {}
    }

    @Test("disconnects a receiver that reads nothing for the time-out, and not earlier")
    func silent() throws {
        let bench = try LiveBench()
        _ = try bench.connect()
        let peer = try bench.connect()
        while bench.receivers.last?.dropped == 0 { bench.frame(length: 20_000) }
        let start = bench.now
        while bench.receivers.last?.departure == nil, bench.now < start + .seconds(20) {
            bench.frame(length: 20_000)
        }
        #expect(bench.receivers.last?.departure == .silent(for: .seconds(10)))
        let left = try #require(bench.receivers.last?.left)
        // It was stuck for two seconds before it overflowed.
        #expect(((start + .seconds(7))...(start + .seconds(10))).contains(.start + left))
        #expect(!peer.read().isEmpty)
        #expect(peer.hasEnded)
    }

    @Test("a receiver with nothing to read is not silent", arguments: [true, false])
    func paused(hasUnits: Bool) throws {
        let bench = try LiveBench()
        let peer = try bench.connect()
        if hasUnits { _ = bench.frames(5) }
        bench.now += .seconds(100)
        bench.round()
        #expect(bench.receivers[0].departure == nil)
        _ = peer.read()
    }

    @Test("the buffer keeps to its limit, however slow the receivers", arguments: [4, 16])
    func bounded(receivers: Int) throws {
        let bench = try LiveBench(buffer: .bytes(100_000))
        let peers = try (0..<receivers).map { _ in try bench.connect() }
        for _ in 0..<200 {
            bench.frame(length: 9_000)
            let range = bench.buffer.window.range
            #expect(range.count <= 11)
        }
        #expect(bench.receivers.allSatisfy { $0.dropped > 0 })
        withExtendedLifetime(peers) {}
    }

    @Test("drops what everyone has received")
    func trimmed() throws {
        let bench = try LiveBench()
        let peer = try bench.connect()
        _ = bench.frames(5)
        #expect(bench.buffer.window.range == 5..<5)
        _ = peer.read()
    }

    // MARK: Leaving

    @Test("one that leaves is disconnected, and the others notice nothing")
    func leaving() throws {
        let bench = try LiveBench()
        let (first, second) = (try bench.connect(), try bench.connect())
        var units = bench.frames(5)
        first.leave()
        units += bench.frames(5)
        #expect(same(second.read(), bytes(units)))
        #expect(bench.receivers[0].departure != nil)
        #expect(bench.receivers[0].left != nil)
        #expect(bench.receivers[1].departure == nil)
        #expect(bench.source.departures == 1)
    }

    @Test("one that sends no more still receives")
    func halfClosed() throws {
        let bench = try LiveBench()
        let peer = try bench.connect()
        peer.endSending()
        bench.round()
        let units = bench.frames(12)
        #expect(same(peer.read(), bytes(units)))
        #expect(bench.receivers[0].departure == nil)
        peer.leave()
        bench.frame()
        bench.round()
        #expect(bench.receivers[0].departure == .closed)
    }

    @Test("one that sends no more makes room if needed, unless it was seen receiving")
    func halfClosedAndFull() throws {
        let bench = try LiveBench(mostReceivers: 2)
        let (steady, silent) = (try bench.connect(), try bench.connect())
        steady.endSending()
        bench.round()
        _ = bench.frames(3)
        silent.endSending()
        bench.round()
        let third = try bench.connect()
        #expect(bench.receivers.map { $0.departure == nil } == [true, false, true])
        let fourth = try bench.connect()
        #expect(bench.events.last == .refused(peer: "peer", limit: 2))
        withExtendedLifetime((steady, silent, third, fourth)) {}
    }

    @Test(
        "one that reads a little and never catches up makes room after the time-out, not before"
    )
    func neverCatchesUp() throws {
        let bench = try LiveBench(mostReceivers: 2, keyframeInterval: 1000)
        let (slow, fast) = try (bench.connect(), bench.connect())
        var seconds = 0
        func pass(_ count: Int) {
            for _ in 0..<count {
                bench.frame(length: seconds == 0 ? 6_000_000 : 1000, after: .seconds(1))
                slow.sip(100_000)
                for _ in 0..<40 {
                    _ = fast.read()
                    bench.round()
                }
                seconds += 1
            }
        }
        // It needs a minute for the IDR; from the third second on it lags.
        pass(11)
        #expect(try bench.connect().hasEnded)
        pass(4)
        let next = try bench.connect()
        #expect(!next.hasEnded)
        #expect(bench.receivers.map(\.departure) == [.tooSlow(for: .seconds(10)), nil, nil])
        #expect(bench.receivers[1].dropped == 0)
    }

    @Test(
        "one that hardly reads makes room, though the system's buffers could hold a thin stream"
    )
    func thinStream() throws {
        let bench = try LiveBench(mostReceivers: 2, keyframeInterval: 1000)
        let (slow, fast) = try (bench.connect(), bench.connect())
        func pass(seconds: Int) {
            for _ in 0..<seconds * 10 {
                bench.frame(length: 100, after: .milliseconds(100))
                _ = fast.read()
            }
            slow.sip(1)
        }
        pass(seconds: 9)
        #expect(try bench.connect().hasEnded)
        pass(seconds: 4)
        let next = try bench.connect()
        #expect(!next.hasEnded)
        #expect(bench.receivers.map(\.departure) == [.tooSlow(for: .seconds(10)), nil, nil])
    }

    @Test("one that was slow for a moment and caught up keeps its place")
    func slowForAMoment() throws {
        let bench = try LiveBench(mostReceivers: 1, keyframeInterval: 4)
        let peer = try bench.connect()
        for second in 0..<30 {
            bench.frame(length: 2_000_000, after: .seconds(1))
            guard second > 6 else { continue }
            for _ in 0..<20 {
                _ = peer.read()
                bench.round()
            }
        }
        #expect(bench.receivers[0].dropped > 0)
        #expect(try bench.connect().hasEnded)
        #expect(bench.receivers[0].departure == nil)
    }

    @Test("an address gets half of the places, and its departed receivers have made room")
    func addresses() throws {
        let bench = try LiveBench(mostReceivers: 4)
        var peers = try (0..<3).map { _ in try bench.connect(from: 7) }
        #expect(peers[2].hasEnded && !peers[1].hasEnded)
        #expect(bench.events.last == .refusedAddress(peer: "peer", limit: 2))
        peers.append(try bench.connect(from: 8))
        #expect(!peers[3].hasEnded)
        peers[0].leave()
        peers.append(try bench.connect(from: 7))
        #expect(!peers[4].hasEnded)
        #expect(bench.ledger.content.refused == 1)
    }

    @Test("an address has the requested limit, and this machine's own has none")
    func addressLimit() throws {
        let bench = try LiveBench(mostReceivers: 4, mostPerAddress: 1)
        let peers = try [nil, nil, 7, 7].map { try bench.connect(from: $0) }
        #expect(peers.map(\.hasEnded) == [false, false, false, true])
    }

    @Test("totals include receivers that are no longer listed")
    func taken() throws {
        let bench = try LiveBench(mostDeparted: 2)
        for _ in 0..<5 {
            let peer = try bench.connect()
            _ = bench.frames(10)
            peer.leave()
            bench.round()
        }
        #expect(bench.receivers.count == 2)
        #expect(bench.ledger.taken.units == 50)
        #expect(bench.ledger.taken.keyframes == 5)
    }

    @Test("hundreds that come and go leave only the latest, and few log lines")
    func manyComeAndGo() throws {
        let bench = try LiveBench(mostDeparted: 50)
        let steady = try bench.connect()
        var units: [AccessUnit] = []
        var received: [UInt8] = []
        for _ in 0..<200 {
            let peer = try bench.connect()
            units.append(bench.frame())
            received += steady.read()
            peer.leave()
            bench.round()
        }
        #expect(same(received, bytes(units)))
        #expect(bench.ledger.content.count == 201)
        #expect(bench.receivers.count == 51)
        #expect(bench.receivers[0].departure == nil)
        #expect(bench.events.count < 60)
        #expect(bench.events.contains { if case .suppressed = $0 { true } else { false } })
    }

    @Test("a crowd that is served does not hide why the others are refused")
    func refusedAfterACrowd() throws {
        let bench = try LiveBench(mostReceivers: 40)
        let peers = try (0..<45).map { _ in try bench.connect() }
        let refusals = bench.events.count { if case .refused(_, limit: 40) = $0 { true } else { false } }
        #expect(refusals == 5)
        withExtendedLifetime(peers) {}
    }

    @Test("a quiet hour does not allow more lines")
    func quietHour() throws {
        let bench = try LiveBench(mostDeparted: 50)
        func comeAndGo() throws -> Int {
            let before = bench.events.count
            for _ in 0..<200 {
                let peer = try bench.connect()
                bench.frame()
                peer.leave()
                bench.round()
            }
            return bench.events.count - before
        }
        #expect(try comeAndGo() < 60)
        bench.now += .seconds(3600)
        #expect(try comeAndGo() < 60)
    }

    // MARK: The end

    @Test("at the end, receivers get the rest, and a clean close")
    func end() throws {
        let bench = try LiveBench()
        let (quick, never) = (try bench.connect(), try bench.connect())
        let units = bench.frames(12, length: 20_000)
        var received = quick.read()
        bench.buffer.finish()
        while bench.round(), bench.receivers[0].departure == nil { received += quick.read() }
        received += quick.read()
        #expect(same(received, bytes(units)))
        #expect(quick.hasEnded)
        #expect(bench.receivers[0].departure == .ended)
        // The other does not read: it has three seconds.
        #expect(bench.receivers[1].departure == nil)
        bench.now += .seconds(3)
        #expect(!bench.round())
        #expect(bench.receivers[1].departure == .cutOff)
        #expect(bench.receivers[1].units + bench.receivers[1].dropped == 12)
        _ = never.read()
        #expect(never.hasEnded)
    }

    @Test("ends at once without receivers")
    func emptyEnd() throws {
        let bench = try LiveBench()
        _ = bench.frames(3)
        bench.buffer.finish()
        #expect(!bench.round())
    }

    // MARK: Costs

    @Test(
        "allocates nothing for a unit or a receiver",
        .enabled(if: allocations_can_be_counted(), "counts in optimized code without a sanitizer"))
    func allocations() throws {
        let bench = try LiveBench()
        let peers = try (0..<16).map { _ in try bench.connect() }
        let units = (0..<150).map { accessUnit(length: 100, isIDR: $0 % 10 == 0, frameNumber: $0) }
        var room = [UInt8](repeating: 0, count: 4096)
        // An array's iterator allocates where it is not optimized, as tests are not.
        for number in units.indices {
            if number == 50 { allocations_begin() }
            bench.now += LiveBench.frameDuration
            bench.buffer.append(units[number], at: bench.now)
            bench.round()
            for peer in peers.indices { recv(peers[peer].descriptor, &room, room.count, Int32(MSG_DONTWAIT)) }
        }
        #expect(allocations_end() == 0)
        #expect(bench.receivers.allSatisfy { $0.units == 150 })
    }
}
