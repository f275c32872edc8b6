import CamControlProtocol
import Glibc
import Testing
import CamPlatform
import CamStorage

@testable import CamRecorder
import Containers

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

    @Test(
        "says what keeps a sink from writing until it writes again; one that cannot recover keeps its reason")
    func outages() {
        for recovers in [true, false] {
            let (sink, items) = (ScriptedSink(), BoundedQueue<OutputItem>(capacity: 8))
            let outages = OutageRecord()
            var conditions: [String?] = []
            (sink.recovers, sink.failures) = (recovers, [1: .diskFull, 2: .writeFailed(errno: EROFS)])
            sink.onUnit = { _ in conditions.append(outages.current?.error.condition) }
            for number in 0..<5 { _ = items.push(.unit(accessUnit(number: number, isIDR: true, length: 10))) }
            items.close()
            var stage = WriteStage(
                items: items, sink: sink, counters: Counters(), outages: outages, measuresLatency: false,
                control: RecordingControl())
            _ = stage.run()
            #expect(conditions == (recovers ? [nil, nil, "disk full", "read-only", nil] : [nil, nil]))
            #expect(outages.current?.error.condition == (recovers ? nil : "disk full"))
        }
    }

    @Test(
        "a ring that waits looks for what would keep its event from being written, with room for all it keeps"
    )
    func waitingRing() {
        let (sink, items) = (ScriptedSink(), BoundedQueue<OutputItem>(capacity: 64))
        let outages = OutageRecord()
        let full = OutputOutage(OutputError(.diskFull, output: "a"), since: .now)
        (sink.findings, sink.recovers) = ([nil, full, full, nil], true)
        var (conditions, rooms): ([String?], [Int]) = ([], [])
        sink.onLook = { room in
            conditions.append(outages.current?.error.condition)
            rooms.append(room)
        }
        for number in 0..<6 { _ = items.push(.unit(accessUnit(number: number, length: 100))) }
        _ = items.push(.event(EventTrigger(event: nil)))
        for number in 6..<8 { _ = items.push(.unit(accessUnit(number: number, isIDR: false, length: 100))) }
        items.close()
        var stage = WriteStage(
            items: items, sink: sink, ring: EventRing.Plan(before: .seconds(10), after: .seconds(10)),
            counters: Counters(), outages: outages, measuresLatency: false, control: RecordingControl())
        stage.lookInterval = .zero
        #expect(stage.run() == nil)
        // Before each of the six pictures and the trigger; then the event is written.
        #expect(conditions == [nil, nil, "disk full", "disk full", nil, nil, nil])
        #expect(rooms.first == 0 && rooms.last.map { $0 >= 600 } == true && rooms == rooms.sorted())
        #expect(sink.units.count == 8)
    }

    @Test("an event's file ends with its own event, even if the next one lasts already")
    func eventsOfALateWriter() {
        let (sink, items) = (ScriptedSink(), BoundedQueue<OutputItem>(capacity: 64))
        let (first, second) = (LastingEvent(), LastingEvent())
        func push(_ numbers: Range<Int>) {
            for number in numbers {
                let time = Instant.start + .milliseconds(100) * number
                _ = items.push(
                    .unit(accessUnit(number: number, isIDR: number.isMultiple(of: 5), timestamp: time)))
            }
        }
        push(0..<10)
        _ = items.push(.event(EventTrigger(event: first)))
        push(10..<40)
        _ = items.push(.event(EventTrigger(event: second)))
        // A trigger by hand ends no event.
        _ = items.push(.event(EventTrigger(event: nil)))
        push(40..<60)
        items.close()
        first.end(at: .start + .seconds(2))
        var stage = WriteStage(
            items: items, sink: sink, ring: EventRing.Plan(before: .seconds(1), after: .milliseconds(100)),
            counters: Counters(), measuresLatency: false, control: RecordingControl())
        #expect(stage.run() == nil)
        #expect(sink.units.map(\.frameNumber) == Array(0..<20) + Array(25..<60))
    }

    @Test("the recording's state is what keeps all of its files from being written")
    func state() {
        func outage(_ kind: OutputError.Kind) -> OutputOutage {
            OutputOutage(OutputError(kind, output: "a"), since: .now)
        }
        #expect(RecordingStatistics.state(of: []) == .recording)
        #expect(RecordingStatistics.state(of: [nil, outage(.diskFull)]) == .recording)
        #expect(RecordingStatistics.state(of: [outage(.diskFull), outage(.diskFull)]) == .diskFull)
        #expect(RecordingStatistics.state(of: [outage(.writeFailed(errno: EROFS))]) == .readOnly)
        #expect(RecordingStatistics.state(of: [outage(.writeFailed(errno: EIO))]) == .failing)
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
