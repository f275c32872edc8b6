import Testing
import Threading
import Time

@testable import Web

@Suite("whether somebody watches")
struct ViewerDemandTests {
    @Test("a connection outlives the last viewer for a while")
    func lingers() throws {
        let demand = try ViewerDemand(linger: .seconds(5))
        let start = Instant.now
        #expect(!demand.isWanted(at: start))
        demand.viewerJoined()
        demand.viewerJoined()
        #expect(demand.awaitViewer())
        demand.viewerLeft(at: start)
        #expect(demand.isWanted(at: start + .seconds(3600)))
        #expect(demand.deadline == nil)
        demand.viewerLeft(at: start)
        #expect(demand.isWanted(at: start + .milliseconds(4999)))
        #expect(!demand.isWanted(at: start + .seconds(5)))
        #expect(demand.deadline == start + .seconds(5))
        demand.viewerJoined()
        #expect(demand.isWanted(at: start + .seconds(3600)))
        #expect(demand.deadline == nil)
    }

    @Test("a viewer that leaves wakes the reader")
    func wakes() throws {
        let demand = try ViewerDemand(linger: .seconds(5))
        func wake() -> Wake { Wake.wait(for: demand.descriptor, unless: nil, until: .distantPast) }
        demand.viewerJoined()
        #expect(wake() == .due)
        demand.viewerLeft()
        #expect(wake() == .ready)
        demand.noteChange()
        #expect(wake() == .due)
    }

    @Test("the end comes at once")
    func ends() throws {
        let demand = try ViewerDemand(linger: .seconds(5))
        demand.viewerJoined()
        demand.stop()
        #expect(!demand.isWanted())
        #expect(!demand.awaitViewer())
    }
}
