import Glibc
import Synchronization
import Testing
import CamPlatform

/// Items that several threads do.
@Suite struct WorkCrewTests {
    private final class Tally: Sendable {
        let counts: [Atomic<Int>.Box]
        init(_ count: Int) { counts = (0..<count).map { _ in Atomic<Int>.Box() } }
    }

    @Test("each item is done once, with any number of helpers", arguments: [0, 1, 3])
    func once(helpers: Int) {
        let crew = WorkCrew<Tally>(helpers: helpers) { tally, items in
            for item in items { tally.counts[item].increment() }
        }
        let tally = Tally(1003)
        for round in 1...100 {
            crew.perform(0..<1003, in: 7, on: tally)
            #expect(tally.counts.allSatisfy { $0.value == round })
        }
    }

    @Test("helpers work at the same time as the caller, and it waits for them")
    func together() {
        final class Meeting: Sendable {
            let monitor = Monitor()
            let arrived = Atomic<Int>.Box()
            let left = Atomic<Int>.Box()
            let hasReturned = Atomic<Int>.Box()

            func wait(upTo patience: Duration, until isOver: () -> Bool) {
                let deadline = Instant.now + patience
                while !isOver(), Instant.now < deadline { monitor.wait(until: deadline) }
            }
        }
        let caller = UncheckedTransfer(pthread_self())
        let crew = WorkCrew<Meeting>(helpers: 1) { meeting, _ in
            let isHelper = pthread_equal(pthread_self(), caller.value) == 0
            meeting.monitor.withLock {
                meeting.arrived.increment()
                meeting.monitor.signal()
                meeting.wait(upTo: .seconds(20)) { meeting.arrived.value == 2 }
                // A caller that does not wait is back before the helper has finished.
                if isHelper { meeting.wait(upTo: .milliseconds(200)) { meeting.hasReturned.value > 0 } }
            }
            if meeting.arrived.value == 2 { meeting.left.increment() }
        }
        let meeting = Meeting()
        crew.perform(0..<2, in: 1, on: meeting)
        #expect(meeting.left.value == 2)
        meeting.hasReturned.increment()
        meeting.monitor.withLock { meeting.monitor.signal() }
    }

    @Test("a crew that has nothing to do lets go of what it worked on")
    func release() {
        final class Context: Sendable {}
        let crew = WorkCrew<Context>(helpers: 1) { _, _ in }
        weak var released: Context?
        do {
            let context = Context()
            released = context
            crew.perform(0..<10, in: 1, on: context)
        }
        #expect(released == nil)
    }
}

extension Atomic where Value == Int {
    /// An atomic that can be stored in an array.
    fileprivate final class Box: Sendable {
        private let atomic = Atomic<Int>(0)
        var value: Int { atomic.load(ordering: .acquiring) }
        func increment() { atomic.wrappingAdd(1, ordering: .acquiringAndReleasing) }
    }
}
