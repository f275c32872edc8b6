import CamPlatform
import Containers
import Glibc

/// The MP4s that are being made of ranges of time, and those that are made. A finished one is kept for a while, so that a
/// download can be continued.
final class SpanStore: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private let scratchFolder: String
    private var jobs: [Key: SpanJob] = [:]
    private var hasJanitor = false

    private struct Key: Hashable {
        let catalog: ObjectIdentifier
        let time: Range<WallTime>
    }

    /// How long a finished MP4 is kept after its last use, and the most MP4s that are kept without a receiver.
    private static let (kept, mostIdle) = (Duration.seconds(600), 4)

    init(scratchFolder: String) { self.scratchFolder = scratchFolder }

    /// Returns the MP4 of a time, and waits until it is made.
    /// - Parameter make: makes the MP4; called unless another thread is making it.
    /// - Returns: nil if the browser no longer waits.
    func span(
        _ time: Range<WallTime>, for request: RecordingRequest, _ sink: ResponseSink,
        make: (SpanJob) throws(Refusal) -> Void
    ) throws(Refusal) -> SpanJob? {
        let key = Key(catalog: ObjectIdentifier(request.catalog), time: time)
        // What a head says needs no MP4.
        if request.isHead {
            if let known = monitor.withLock({ jobs[key] }), known.isMade { return known }
            return try SpanJob(time, request, scratchFolder: scratchFolder, isMade: false)
        }
        while !sink.isGone {
            let known = monitor.withLock { jobs[key] }
            // Recordings may have come since it was made, but what a browser continues must stay the same.
            if let known, request.range != nil || known.isCurrent(for: request) {
                if let job = try share(known, sink) { return job }
                continue
            }
            let job = try SpanJob(time, request, scratchFolder: scratchFolder, isMade: true)
            job.add(sink)
            let isFirst = monitor.withLock {
                // Another browser may have asked for it meanwhile.
                guard jobs[key] === known else { return false }
                jobs[key] = job
                return true
            }
            guard isFirst else { continue }
            do throws(Refusal) { try make(job) } catch {
                finish(job, error, key)
                throw error
            }
            finish(job, nil, key)
            return sink.isGone || !job.isMade ? nil : job
        }
        return nil
    }

    /// Waits until another thread has made an MP4.
    /// - Returns: nil if it was given up.
    private func share(_ job: SpanJob, _ sink: ResponseSink) throws(Refusal) -> SpanJob? {
        job.add(sink)
        wait(for: job, sink)
        if let refusal = monitor.withLock({ job.refusal }) { throw refusal }
        return job.isMade && !sink.isGone ? job : nil
    }

    private func wait(for job: SpanJob, _ sink: ResponseSink) {
        monitor.withLock {
            while !job.isOver, !sink.isGone { monitor.wait(until: .now + .seconds(1)) }
        }
    }

    private func finish(_ job: SpanJob, _ refusal: Refusal?, _ key: Key) {
        monitor.withLock {
            (job.isOver, job.refusal) = (true, refusal)
            if !job.isMade, jobs[key] === job { jobs[key] = nil }
            monitor.signal()
        }
        clean()
    }

    /// The state of a download, for the page.
    func state(of time: Range<WallTime>, for request: RecordingRequest) throws(Refusal) -> SpanState {
        let key = Key(catalog: ObjectIdentifier(request.catalog), time: time)
        if let job = monitor.withLock({ jobs[key] }) { return job.state }
        return try SpanJob(time, request, scratchFolder: scratchFolder, isMade: false).state
    }

    // MARK: Removal

    /// Removes MP4s without a receiver: those that were last used long ago, and all but the newest.
    private func clean() {
        let hasIdle = monitor.withLock {
            let idle = jobs.filter { $0.value.isMade && !$0.value.isWanted }
                .sorted { $0.value.lastUse > $1.value.lastUse }
            for (number, (key, job)) in idle.enumerated()
            where number >= Self.mostIdle || job.lastUse + Self.kept <= .now {
                jobs[key] = nil
            }
            return jobs.values.contains { $0.isMade }
        }
        guard hasIdle else { return }
        let isDue = monitor.withLock {
            let wasThere = hasJanitor
            hasJanitor = true
            return !wasThere
        }
        guard isDue else { return }
        let janitor = WorkerThread { [weak self, monitor] in
            while true {
                let deadline = Instant.now + .seconds(30)
                monitor.withLock { while Instant.now < deadline { monitor.wait(until: deadline) } }
                guard let self, self.hasKept() else { return }
                self.clean()
            }
        }
        guard let janitor else { return monitor.withLock { hasJanitor = false } }
        janitor.detach()
    }

    private func hasKept() -> Bool {
        monitor.withLock {
            hasJanitor = jobs.values.contains { $0.isMade }
            return hasJanitor
        }
    }
}

/// The state of a download. Bytes are an estimate until it is made.
struct SpanState: Encodable, Hashable {
    /// The number of downloads that are made first; nil if it is not waiting.
    var position: Int?
    /// Thousandths that are made; nil if it is not being made.
    var made: Int?
    var isMade = false
    let bytes: Int
    /// Gaps between the recordings, and their length in milliseconds.
    let holes: Int
    let missing: Int64
}
