import Bitstream
import Glibc
import TestSupport
import Testing
import CamPlatform

@testable import CamRecorder
import Containers

/// An output whose writer hangs while others continue.
@Suite(.hangGuard) struct RecordingOutputTests {
    /// A sink that hangs in its first access unit until a test releases it.
    private struct Bench {
        let sink = ScriptedSink()
        let hangs = Gate()
        let goesOn = Gate()
        let hasEnded = Gate()
        let events = Events()
        let output: RecordingOutput

        init(recovers: Bool, patience: Duration? = .nanoseconds(1)) throws {
            sink.recovers = recovers
            sink.onUnit = { [hangs, goesOn] number in
                guard number == 0 else { return }
                hangs.open()
                goesOn.wait()
            }
            output = RecordingOutput(
                OutputPlan(sink), measuresLatency: false, patience: patience, report: events.add)
            let isStarted = output.start { [hasEnded] _ in hasEnded.open() }
            try #require(isStarted)
        }

        /// One that hangs in the writer, and those that fill the queue after it.
        func fill() {
            #expect(output.accept(accessUnit(number: 0, isIDR: true)))
            hangs.wait()
            for number in 1...RecordingOutput.capacity {
                #expect(output.accept(accessUnit(number: number, isIDR: false)))
            }
        }

        func end() {
            output.close()
            output.join()
        }
    }

    private final class Events: @unchecked Sendable {
        // Safe to share: the events are touched by only the thread that acts as the encode thread.
        private(set) var all: [OutputEvent] = []
        /// What a user reads.
        var add: @Sendable (OutputEvent) -> Void { { if $0.isWarning { self.all.append($0) } } }
    }

    private static let blocked = OutputError(.blocked, output: "scripted")

    @Test("a single file ends where its writer hangs, and queued units are written if it returns")
    func file() throws {
        let bench = try Bench(recovers: false)
        bench.fill()
        #expect(!bench.output.accept(accessUnit(number: 9999, isIDR: true)))
        #expect(!bench.output.accept(accessUnit(number: 10000, isIDR: true)))
        #expect(bench.events.all == [.failed(Self.blocked)])
        bench.goesOn.open()
        bench.end()
        #expect(bench.sink.units.map(\.frameNumber) == Array(0...RecordingOutput.capacity))
        #expect(bench.sink.isFinished)
        #expect(bench.output.error == Self.blocked)
        #expect(bench.output.counters[.accepted] == bench.output.counters[.written])
    }

    @Test("segments continue with the IDR that finds the queue empty, and count their losses")
    func segments() throws {
        let bench = try Bench(recovers: true)
        bench.fill()
        // An IDR that finds the queue full does not help.
        for number in 9000..<9007 {
            #expect(bench.output.accept(accessUnit(number: number, isIDR: number == 9003)))
        }
        bench.output.beginStream(StreamDescription(codec: .h264, width: 2, height: 2, frameRate: nil))
        #expect(bench.events.all == [.blocked(Self.blocked)])
        bench.goesOn.open()
        try #require(eventually { bench.output.items.isEmpty })
        #expect(bench.output.accept(accessUnit(number: 9007, isIDR: false)))
        #expect(bench.output.accept(accessUnit(number: 9008, isIDR: true)))
        #expect(bench.events.all.last == .resumed(name: "scripted", lost: 8))
        bench.end()
        #expect(bench.sink.units.map(\.frameNumber) == Array(0...RecordingOutput.capacity) + [9008])
        #expect(bench.sink.descriptions.count == 1)
        #expect(bench.output.error == Self.blocked)
        #expect(bench.output.counters[.lost] == 8)
        #expect(!bench.output.hasUnwritten)
    }

    @Test("counts an access unit that waits for room in the queue")
    func waits() throws {
        var waits = 0
        // The writer may make room before the unit comes; then nothing waits, and it is tried again.
        for _ in 0..<1000 where waits == 0 {
            let bench = try Bench(recovers: false, patience: nil)
            bench.fill()
            guard let release = WorkerThread(body: { [gate = bench.goesOn] in gate.open() }) else {
                Issue.record("no thread")
                return
            }
            #expect(bench.output.accept(accessUnit(number: 9999, isIDR: false)))
            release.join()
            bench.end()
            waits = bench.output.outcome.waits
        }
        #expect(waits == 1)
    }

    @Test("does not wait for one that still hangs at the end; unwritten units count as lost")
    func abandoned() throws {
        let bench = try Bench(recovers: true, patience: nil)
        bench.fill()
        bench.output.close()
        #expect(bench.output.hasUnwritten)
        bench.output.abandon()
        bench.output.join()
        #expect(bench.output.isAbandoned)
        #expect(bench.output.error == Self.blocked)
        #expect(bench.output.outcome.latency == nil)
        #expect(bench.output.counters[.lost] == RecordingOutput.capacity + 1)
        bench.goesOn.open()
        bench.hasEnded.wait()
    }

    @Test("does not abandon one that has ended")
    func ended() throws {
        let bench = try Bench(recovers: true)
        bench.goesOn.open()
        bench.output.close()
        bench.hasEnded.wait()
        bench.output.abandon()
        bench.output.join()
        #expect(!bench.output.isAbandoned)
        #expect(bench.output.error == nil)
        #expect(bench.sink.isFinished)
    }
}
