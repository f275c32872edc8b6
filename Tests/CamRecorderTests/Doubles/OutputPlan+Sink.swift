import Bitstream
import CamRecorder
import CamStorage
import Containers

extension OutputPlan {
    /// A file's plan, whose sink is a test's.
    init(_ sink: any AccessUnitSink, _ codec: Codec = .h264, ring: EventRing.Plan? = nil) {
        self.init(OutputChoice(path: sink.name, codec: codec), sink: sink, ring: ring)
    }
}
