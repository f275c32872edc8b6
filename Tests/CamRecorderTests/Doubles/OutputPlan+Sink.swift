import Bitstream
import CamRecorder
import CamStorage
import Containers

extension OutputPlan {
    /// A file's plan, whose sink is a test's. H.265 is the second rendition.
    init(_ sink: any AccessUnitSink, _ codec: Codec = .h264, ring: EventRing.Plan? = nil) {
        self.init(
            OutputChoice(path: sink.name, codec: codec), rendition: codec == .h264 ? 0 : 1, sink: sink,
            ring: ring)
    }
}
