import Testing
import CamPlatform

@testable import CamWeb

@Suite("whether somebody watches")
struct ViewerDemandTests {
    @Test("a connection outlives the last viewer for a while")
    func lingers() throws {
        let demand = try ViewerDemand(linger: .seconds(5))
        let start = Instant.now
        #expect(!demand.isWanted(at: start))
        demand.viewerJoined(.messages)
        demand.viewerJoined(.messages)
        #expect(demand.awaitViewer())
        demand.viewerLeft(.messages, at: start)
        #expect(demand.isWanted(at: start + .seconds(3600)))
        #expect(demand.deadline == nil)
        demand.viewerLeft(.messages, at: start)
        #expect(demand.isWanted(at: start + .milliseconds(4999)))
        #expect(!demand.isWanted(at: start + .seconds(5)))
        #expect(demand.deadline == start + .seconds(5))
        demand.viewerJoined(.messages)
        #expect(demand.isWanted(at: start + .seconds(3600)))
        #expect(demand.deadline == nil)
    }

    @Test("only forms that somebody watches are wanted")
    func forms() throws {
        let demand = try ViewerDemand(linger: .seconds(5))
        demand.viewerJoined(.messages)
        demand.viewerJoined(.mp4)
        demand.viewerJoined(.mp4)
        demand.viewerLeft(.mp4)
        #expect(LiveForm.allCases.map(demand.isWanted) == [true, false, true, false])
        demand.viewerLeft(.mp4)
        #expect(LiveForm.allCases.map(demand.isWanted) == [true, false, false, false])
    }

    @Test("a viewer that leaves wakes the reader")
    func wakes() throws {
        let demand = try ViewerDemand(linger: .seconds(5))
        func wake() -> WaitResult {
            WaitResult.wait(for: demand.descriptor, unless: nil, until: .distantPast)
        }
        demand.viewerJoined(.messages)
        #expect(wake() == .due)
        demand.viewerLeft(.messages)
        #expect(wake() == .ready)
        demand.noteChange()
        #expect(wake() == .due)
    }

    @Test("the end comes at once")
    func ends() throws {
        let demand = try ViewerDemand(linger: .seconds(5))
        demand.viewerJoined(.messages)
        demand.stop()
        #expect(!demand.isWanted())
        #expect(!demand.awaitViewer())
    }
}
