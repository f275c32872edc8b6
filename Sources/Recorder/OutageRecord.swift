import Output
import Threading

/// Why an output is not written at present. Written by its threads, read by any.
final class OutageRecord: @unchecked Sendable {
    // Safe to share: the state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private var outage: OutputOutage?

    /// Nil while the output is written.
    var current: OutputOutage? { monitor.withLock { outage } }

    func set(_ outage: OutputOutage?) { monitor.withLock { self.outage = outage } }

    /// Ends an outage of one kind, and no other.
    func end(_ kind: OutputError.Kind) {
        monitor.withLock { if outage?.error.kind == kind { outage = nil } }
    }
}
