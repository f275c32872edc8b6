import Encoder
import CamControlProtocol
import CamPlatform
import CamDelivery
import CamStorage
import Containers

extension RecordingStatistics {
    /// - Parameters:
    ///   - seconds: the time since the recording started.
    ///   - motion: the detected motion; nil without motion detection.
    init(
        _ counters: Counters<CaptureCounter>, _ encoders: [Counters<EncoderCounter>],
        _ outputs: [RecordingOutput], seconds: Double, isPaused: Bool, isCameraOff: Bool = false,
        motion: MotionLog.Content? = nil
    ) {
        self.init(seconds: seconds, isPaused: isPaused)
        (captured, droppedByDriver) = (counters[.captured], counters[.droppedByDriver])
        (corrupt, droppedByUs, paused) = (counters[.corrupt], counters[.droppedByUs], counters[.paused])
        notWanted = counters[.notWanted]
        encoded = encoders.map { $0[.encoded] }
        droppedByEncoder = encoders.map { $0[.droppedByEncoder] }
        encoderRestarts = encoders.map { $0[.restarts] }
        restarts = counters[.sourceRestarts]
        (motionEvents, moving) = (motion?.count, motion?.isMoving)
        self.outputs = outputs.map(Output.init)
        if isCameraOff, !isPaused {
            state = .idle
        } else if !isPaused {
            state = Self.state(of: outputs.filter { $0.folder != nil && $0.choice.hasPictures }.map(\.outage))
        }
        receivers = outputs.flatMap { ReceiverReport.all(of: $0.receivers, output: $0.name) }
            .filter { $0.left == nil }
    }
}

extension RecordingStatistics {
    /// The reason why no file is written; `recording` if any file is.
    /// - Parameter outages: the outage of each file, or nil.
    static func state(of outages: [OutputOutage?]) -> State {
        guard let outage = outages.first ?? nil, !outages.contains(nil) else { return .recording }
        return State(rawValue: outage.error.condition) ?? .failing
    }
}

extension RecordingStatistics.Output {
    fileprivate init(_ output: RecordingOutput) {
        let progress = output.progress
        self.init(
            output: output.name, written: progress.units, keyframes: progress.keyframes,
            bytes: progress.bytes, lost: output.counters[.lost] + (output.receivers?.lost ?? 0),
            latency: output.latencies.snapshot, folder: output.folder,
            receivers: output.receivers?.content.receivers.count { $0.departure == nil },
            connections: output.receivers?.content.count,
            outage: output.outage.map { outage in
                RecordingStatistics.Outage(
                    condition: outage.error.condition, since: outage.since.iso8601, error: "\(outage.error)")
            })
        encoder = output.rendition
        limits = RecordingStatistics.Limits(output.retention)
    }
}

extension RecordingStatistics.Limits {
    /// Nil if nothing is removed.
    init?(_ retention: SegmentRetention) {
        guard retention.isLimited else { return nil }
        self.init()
        (seconds, bytes, count) = (retention.age?.inSeconds, retention.bytes, retention.count)
        switch retention.free {
        case .bytes(let bytes)?: freeBytes = bytes
        case .share(let share)?: freeShare = share
        case nil: break
        }
    }
}

// MARK: Receivers

extension ReceiverReport {
    init(_ statistics: ReceiverStatistics, output: String) {
        self.init(
            output: output, peer: statistics.peer, joinedSeconds: statistics.joined.inSeconds,
            leftSeconds: statistics.left?.inSeconds, bytes: statistics.bytes, units: statistics.units,
            dropped: statistics.dropped,
            longestLagMilliseconds: statistics.longestLag.inSeconds * 1e3,
            unconfirmedBytes: statistics.unconfirmedBytes, left: statistics.departure?.description)
    }

    /// Returns a live output's known connections; none for other outputs.
    package static func all(of ledger: ReceiverLedger?, output: String) -> [ReceiverReport] {
        ledger?.content.receivers.map { ReceiverReport($0, output: output) } ?? []
    }
}
