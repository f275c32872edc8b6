import Bitstream
import Output

/// One output of a recording about to start: the request and the open sink for it.
public struct OutputPlan {
    /// The requested output. Its codec selects the track.
    public let choice: OutputChoice
    /// The open sink. Only the recording's writer uses it from now on.
    public let sink: any AccessUnitSink
    /// The ring that keeps pictures in memory until a trigger; nil if everything is written.
    public let ring: EventRing.Plan?

    /// Creates a plan with an open sink.
    public init(_ choice: OutputChoice, sink: any AccessUnitSink, ring: EventRing.Plan? = nil) {
        self.choice = choice
        self.sink = sink
        self.ring = ring
    }
}
