import CamControlProtocol
import CamPlatform
import FoundationEssentials
import Glibc
import NIOCore

/// Collects what the page shows about disks: the recordings of all cameras, the space, the limits, and how long that
/// will do. A camera whose disk or recorder does not answer soon delays the others once: they are asked on, and what they
/// said before is reported until they answer. Used on the event loop.
final class StorageCollector: Sendable {
    private let state: NIOLoopBoundBox<State>
    private let measure: @Sendable (RecordingCatalog) -> StorageUsage?

    /// Belongs to the event loop.
    private struct State {
        /// The running or latest collection.
        var current: EventLoopFuture<String>?
        /// Until when the collection is reused.
        var end = NIODeadline.uptimeNanoseconds(0)
        var cameras: [Camera: Facts] = [:]
    }

    /// What is asked about a camera.
    private enum Question: Hashable { case disk, statistics, kept }

    /// What is known about a camera.
    private struct Facts {
        var usage: StorageUsage?
        var statistics: RecordingStatistics?
        var kept: KeptReport?
        /// What was asked and not answered.
        var asked: Set<Question> = []
        /// What was not answered in time when it was last asked. No report waits for it.
        var late: Set<Question> = []
    }

    /// How long a report waits for a disk or a recorder; a network file system may never answer.
    private static let patience = TimeAmount.milliseconds(500)
    private static let life = TimeAmount.seconds(2)

    /// - Parameter usage: asks the disk of a camera; called on other threads.
    init(
        on eventLoop: any EventLoop,
        usage: @escaping @Sendable (RecordingCatalog) -> StorageUsage? = { $0.usage(at: .now) }
    ) {
        state = .makeBoxSendingValue(State(), eventLoop: eventLoop)
        measure = usage
    }

    /// Returns the report as JSON. Callers during a collection and shortly after it share its result.
    func json(for feeds: [CameraFeed], at now: NIODeadline = .now()) -> EventLoopFuture<String> {
        if let current = state.value.current, now < state.value.end { return current }
        let cameras = Set(feeds.map(\.camera))
        state.value.cameras = state.value.cameras.filter { cameras.contains($0.key) }
        let answers = feeds.flatMap(ask)
        let json = EventLoopFuture.andAllComplete(answers, on: state.eventLoop).assumeIsolated().map {
            [self] in JSON.text(of: StorageReport(feeds.map(source), now: .now))
        }.nonisolated()
        (state.value.current, state.value.end) = (json, .distantFuture)
        json.assumeIsolated().whenComplete { [state] _ in state.value.end = .now() + Self.life }
        return json
    }

    private func source(_ feed: CameraFeed) -> StorageReport.Source {
        let facts = state.value.cameras[feed.camera] ?? Facts()
        return StorageReport.Source(
            name: feed.camera.name, usage: facts.usage, statistics: facts.statistics, kept: facts.kept,
            hasRecordings: feed.recordings != nil, isSilent: !facts.late.isEmpty)
    }

    /// Asks about a camera what is not being asked already.
    /// - Returns: the answers for which the report waits.
    private func ask(_ feed: CameraFeed) -> [EventLoopFuture<Void>] {
        let camera = feed.camera
        var answers: [EventLoopFuture<Void>] = []
        if let catalog = feed.recordings {
            answers.append(follow(.disk, of: camera, { self.usage(catalog) }) { $0.usage = $1 })
        }
        if let link = feed.recorder {
            answers.append(
                follow(.statistics, of: camera, { Self.reply(from: link, .stats) }) {
                    $0.statistics = $1?.stats
                })
            answers.append(
                follow(.kept, of: camera, { Self.reply(from: link, .kept) }) { $0.kept = $1?.kept })
        }
        return answers
    }

    /// Asks a question unless its answer is awaited.
    /// - Parameter store: enters the answer, also one that comes late.
    /// - Returns: completes with the answer, or when the report should not wait longer.
    private func follow<Answer: Sendable>(
        _ question: Question, of camera: Camera, _ ask: () -> EventLoopFuture<Answer?>,
        store: @escaping (inout Facts, Answer?) -> Void
    ) -> EventLoopFuture<Void> {
        let loop = state.eventLoop
        var facts = state.value.cameras[camera] ?? Facts()
        let isLate = facts.late.contains(question)
        guard facts.asked.insert(question).inserted else { return loop.makeSucceededVoidFuture() }
        state.value.cameras[camera] = facts
        let (begin, done) = (loop.now, loop.makePromise(of: Void.self))
        let deadline = loop.assumeIsolated().scheduleTask(in: Self.patience) { [state] in
            state.value.cameras[camera]?.late.insert(question)
            done.succeed()
        }
        ask().assumeIsolated().whenComplete { [state] result in
            deadline.cancel()
            var facts = state.value.cameras[camera] ?? Facts()
            facts.asked.remove(question)
            if loop.now - begin < Self.patience { facts.late.remove(question) }
            store(&facts, (try? result.get()) ?? nil)
            // The camera may be gone.
            if state.value.cameras[camera] != nil { state.value.cameras[camera] = facts }
            done.succeed()
        }
        return isLate ? loop.makeSucceededVoidFuture() : done.futureResult
    }

    private static func reply(
        from link: RecorderLink, _ question: RecorderLink.Question
    ) -> EventLoopFuture<ControlReply?> {
        link.ask(question).map { answer in
            try? JSONDecoder().decode(ControlReply.self, from: Data(answer.line.readableBytesView))
        }
    }

    /// Asks the disk of a camera on a thread of its own, because one that hangs must not delay the others.
    private func usage(_ catalog: RecordingCatalog) -> EventLoopFuture<StorageUsage?> {
        let answer = state.eventLoop.makePromise(of: StorageUsage?.self)
        let thread = WorkerThread { [measure] in answer.succeed(measure(catalog)) }
        if let thread { thread.detach() } else { answer.succeed(nil) }
        return answer.futureResult
    }
}

// MARK: What a disk has

/// What a camera's recordings take, and their disk.
struct StorageUsage: Sendable {
    /// The file system, which several cameras may share.
    var device: UInt64
    /// Bytes of the file system.
    var (total, free): (Int, Int)
    /// The folder from the root; nil if it cannot be opened.
    var root: String?
    /// Bytes and number of all recordings.
    var bytes = 0
    var count = 0
    /// From the first to the last picture, leaving out wrong dates; nil if there are none.
    var time: Range<WallTime>?
    /// Bytes of the recordings that began in the latest days, and since when.
    var recent: (bytes: Int, since: WallTime)?

    /// How far back the rate is measured.
    static let period = Duration.seconds(7 * 86400)
    /// Less than this says little about a rate.
    static let shortest = Duration.seconds(600)

    init(device: UInt64, total: Int, free: Int) {
        (self.device, self.total, self.free) = (device, total, free)
    }

    /// Bytes a second that were recorded lately, pauses included; nil if too little was recorded to tell, or if the
    /// clock is before the recordings.
    func rate(at now: WallTime) -> Double? {
        guard let recent, now - recent.since >= Self.shortest else { return nil }
        return Double(recent.bytes) / ((now - recent.since) / .seconds(1))
    }
}

// MARK: The report as JSON

/// The report for the page. Times are in microseconds since 1970, lengths of time in seconds.
struct StorageReport: Encodable {
    let disks: [Disk]
    let cameras: [Camera]

    struct Disk: Encodable, Hashable {
        let total: Int
        let free: Int
        /// The cameras whose recordings are there.
        var cameras: [String]
    }

    struct Camera: Encodable, Hashable {
        let name: String
        /// The number of its disk; nil if that did not answer.
        var disk: Int?
        var bytes: Int?
        var count: Int?
        var first: Int64?
        var last: Int64?
        /// Bytes that a day takes; nil if unknown.
        var perDay: Int?
        var limits: Limits?
        /// The number and the bytes of recordings that are kept; nil if no recorder says.
        var kept: Kept?
        var outlook: Outlook
        /// True if its disk or recorder does not answer: the rest is what they said before, if anything.
        var silent: Bool?
    }

    struct Limits: Encodable, Hashable {
        var seconds: Int?
        var bytes: Int?
        var count: Int?
        /// Bytes of the disk that stay free.
        var free: Int?
    }

    struct Kept: Encodable, Hashable {
        let count: Int
        let bytes: Int
    }

    struct Outlook: Encodable, Hashable {
        /// `unknown`, `idle`, `fills`, `full`, `keeps` or `fullOfKept`.
        let kind: String
        var seconds: Int?
    }

    /// What is known about a camera.
    struct Source: Sendable {
        let name: String
        let usage: StorageUsage?
        let statistics: RecordingStatistics?
        let kept: KeptReport?
        let hasRecordings: Bool
        /// Whether the disk or the recorder does not answer, so that the rest may be old.
        var isSilent = false
    }

    /// Longer times are no estimates.
    private static let longest = 100.0 * 365 * 86400

    init(_ sources: [Source], now: WallTime) {
        let sources = sources.filter(\.hasRecordings)
        var (disks, devices): ([Disk], [UInt64]) = ([], [])
        var places: [Int?] = []
        for source in sources {
            guard let usage = source.usage else {
                places.append(nil)
                continue
            }
            let known = devices.firstIndex(of: usage.device)
            if let known {
                disks[known].cameras.append(source.name)
            } else {
                devices.append(usage.device)
                disks.append(Disk(total: usage.total, free: usage.free, cameras: [source.name]))
            }
            places.append(known ?? devices.count - 1)
        }
        self.disks = disks
        let facts = sources.map { StorageOutlook.Camera($0, now: now) }
        var outlooks = [StorageOutlook](repeating: .unknown, count: sources.count)
        for (number, disk) in disks.enumerated() {
            let members = places.indices.filter { places[$0] == number }
            let found = StorageOutlook.estimates(
                for: members.map { facts[$0] }, total: disk.total, free: disk.free)
            for (member, outlook) in zip(members, found) { outlooks[member] = outlook }
        }
        cameras = sources.indices.map {
            Self.camera(sources[$0], facts[$0], disk: places[$0], outlooks[$0])
        }
    }

    private static func camera(
        _ source: Source, _ facts: StorageOutlook.Camera, disk: Int?, _ outlook: StorageOutlook
    ) -> Camera {
        var camera = Camera(name: source.name, disk: disk, outlook: Outlook(outlook))
        if source.isSilent { camera.silent = true }
        camera.kept = source.kept.map { Kept(count: $0.count, bytes: $0.bytes) }
        guard let usage = source.usage else { return camera }
        (camera.bytes, camera.count) = (usage.bytes, usage.count)
        (camera.first, camera.last) = (
            usage.time?.lowerBound.microseconds, usage.time?.upperBound.microseconds
        )
        camera.perDay = facts.rate.map { whole($0 * 86400) }
        camera.limits = facts.limits.map { limits in
            let share = limits.freeShare.map { whole($0 * Double(usage.total)) }
            return Limits(
                seconds: limits.seconds.map(whole), bytes: limits.bytes, count: limits.count,
                free: [limits.freeBytes, share].compactMap(\.self).max())
        }
        return camera
    }

    /// A number of a peer may be anything.
    fileprivate static func whole(_ number: Double) -> Int {
        Int(exactly: min(max(0, number), 1e18).rounded()) ?? 0
    }

    fileprivate static func seconds(_ seconds: Double) -> Int { whole(min(seconds, longest)) }
}

extension StorageReport.Outlook {
    fileprivate init(_ outlook: StorageOutlook) {
        switch outlook {
        case .unknown: self.init(kind: "unknown")
        case .idle: self.init(kind: "idle")
        case .fills(let seconds): self.init(kind: "fills", seconds: StorageReport.seconds(seconds))
        case .full: self.init(kind: "full")
        case .keeps(let seconds): self.init(kind: "keeps", seconds: StorageReport.seconds(seconds))
        case .fullOfKept: self.init(kind: "fullOfKept")
        }
    }
}

extension StorageOutlook.Camera {
    fileprivate init(_ source: StorageReport.Source, now: WallTime) {
        self.init()
        (bytes, count) = (source.usage?.bytes ?? 0, source.usage?.count ?? 0)
        (rate, keptBytes) = (source.usage?.rate(at: now), max(0, source.kept?.bytes ?? 0))
        let outputs = source.statistics?.outputs.filter { $0.limits != nil } ?? []
        let own = outputs.first { output in
            guard let folder = output.folder, let root = source.usage?.root else { return false }
            return root == folder || root.hasPrefix(folder + "/") || folder.hasPrefix(root + "/")
        }
        limits = source.statistics.map { _ in (own ?? outputs.first)?.limits ?? RecordingStatistics.Limits() }
    }
}
