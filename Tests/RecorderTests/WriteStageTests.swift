import Testing
import Threading

@testable import Recorder

/// The writer's thread.
@Suite struct WriteStageTests {
    @Test("a sink that wants to be looked after is, though nothing comes to be written")
    func maintenance() {
        let (sink, items) = (ScriptedSink(), BoundedQueue<OutputItem>(capacity: 4))
        var count = 0
        sink.maintenanceInterval = 1
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
}
