import Bitstream
import Output

/// One output of a recording that is about to start: what was asked for, and the open sink that carries it out.
public struct OutputPlan {
    /// What was asked for. Its codec says which track it takes.
    public let choice: OutputChoice
    /// Open. The recording's writer alone uses it from now on.
    public let sink: any AccessUnitSink
    /// What is kept in memory ahead of the sink until an event; nil if everything is written.
    public let ring: EventRing.Plan?

    /// An output that is open.
    public init(_ choice: OutputChoice, sink: any AccessUnitSink, ring: EventRing.Plan? = nil) {
        self.choice = choice
        self.sink = sink
        self.ring = ring
    }
}
