import Output
import Testing
import Threading

@testable import Recorder

/// The writer's thread.
@Suite struct WriteStageTests {
    @Test("maintains a sink that requests it, even if nothing is written")
    func maintenance() {
        let (sink, items) = (ScriptedSink(), BoundedQueue<OutputItem>(capacity: 4))
        var count = 0
        sink.maintenanceInterval = .nanoseconds(1)
        sink.onMaintenance = {
            count += 1
            if count == 3 { items.close() }
        }
        var stage = WriteStage(
            items: items, sink: sink, counters: Counters(), measuresLatency: false,
            control: RecordingControl())
        #expect(stage.run() == nil)
        #expect(count == 3 && sink.isFinished)
    }

    @Test("counts data that turns out lost as lost, not as written")
    func retracted() {
        let (sink, items) = (ScriptedSink(), BoundedQueue<OutputItem>(capacity: 8))
        let counters = Counters<OutputCounter>()
        let units = (0..<6).map { accessUnit(number: $0, isIDR: $0 % 3 == 0, length: 10 + $0) }
        var lost = WrittenUnits()
        for unit in units[1...3] { lost.add(unit) }
        sink.retractions[4] = lost
        for unit in units { _ = items.push(.unit(unit)) }
        items.close()
        var stage = WriteStage(
            items: items, sink: sink, counters: counters, measuresLatency: false, control: RecordingControl())
        #expect(stage.run() == nil)
        #expect(counters[.written] == 3 && counters[.lost] == 3 && counters[.keyframes] == 1)
        #expect(counters[.bytes] == units[0].count + units[4].count + units[5].count)
    }
}
