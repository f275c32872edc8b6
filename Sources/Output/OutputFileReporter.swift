import CamPlatform

/// Reports events of an output's files. Repeated failures are reported less and less often.
struct OutputFileReporter {
    /// The first failure that is not part of an outage: an incomplete file, or missing timestamps.
    private(set) var failure: OutputError?
    private let handler: (SegmentEvent) -> Void
    private let clock: any TimeSource
    private var limit = MessageLimit()
    private var timestampLimit = MessageLimit()

    /// - Parameter handler: receives the events, on the writer's thread.
    init(clock: any TimeSource, handler: @escaping (SegmentEvent) -> Void) {
        (self.clock, self.handler) = (clock, handler)
    }

    /// Reports an event.
    func report(_ event: SegmentEvent) { handler(event) }

    /// Reports that writing failed, unless it was reported recently.
    /// - Returns: whether it was reported now.
    mutating func reportInterruption(_ error: OutputError) -> Bool {
        guard limit.admit(at: clock.now) != nil else { return false }
        handler(.interrupted(error))
        return true
    }

    /// Notes that a file that has ended is incomplete.
    mutating func noteIncomplete(_ error: OutputError) {
        failure = failure ?? error
        _ = reportInterruption(error)
    }

    /// Notes that a file lacks timestamps.
    mutating func noteTimestamps(_ error: OutputError) {
        failure = failure ?? error
        if timestampLimit.admit(at: clock.now) != nil { handler(.interrupted(error)) }
    }
}
