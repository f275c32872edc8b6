import Bitstream
import Testing
import CamPlatform
@testable import Containers

/// Receivers that are so many that several threads serve them.
@Suite struct CrowdTests {
    @Test("each of a crowd gets every unit; who does not read, or has left, holds nobody up")
    func crowd() throws {
        let bench = try LiveBench(mostReceivers: 200)
        var peers: [Peer] = []
        for _ in 0..<150 { peers.append(try bench.announce()) }
        while bench.ledger.content.count < 150 { bench.round() }
        // More than the system holds for one that does not read.
        let idle = 149
        var received = [[UInt8]](repeating: [], count: peers.count)
        var sent: [UInt8] = []
        for number in 0..<60 {
            if number == 30 { peers[75].leave() }
            sent += bench.frame(length: 20_000).allBytes
            for (index, peer) in peers.enumerated() where index != idle && !(index == 75 && number >= 30) {
                received[index] += peer.read()
            }
        }
        for index in peers.indices where index != idle && index != 75 {
            #expect(received[index] == sent, "receiver \(index)")
        }
        let statistics = bench.receivers
        #expect(statistics.count { $0.units == 60 && $0.dropped == 0 } == 148)
        #expect(statistics[75].departure == .closed)
        #expect(statistics[idle].units < 60)
    }
}
