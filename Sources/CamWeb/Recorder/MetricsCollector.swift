import CamControlProtocol
import CamPlatform
import FoundationEssentials
import NIOCore

/// Collects the metrics of all cameras for Prometheus. Used on the event loop.
final class MetricsCollector: Sendable {
    private let state: NIOLoopBoundBox<State>
    private let measure: @Sendable (String) -> Int?

    /// Belongs to the event loop.
    private struct State {
        /// The running or latest collection.
        var current: EventLoopFuture<String>?
        /// Until when the collection is reused.
        var end = NIODeadline.uptimeNanoseconds(0)
        /// The folders whose disks were queried and have not answered.
        var queried: Set<String> = []
    }

    /// The state of a camera for the metrics.
    private struct Camera: Sendable {
        let name: String
        let viewerCount: Int
        /// Nil if the recorder does not answer or has no control socket.
        let statistics: RecordingStatistics?
    }

    /// How long a disk may take to report its free space; a network file system may never answer.
    private static let patience = TimeAmount.seconds(2)
    /// How long the text is reused, as long as the recorders' statistics are.
    private static let life = TimeAmount.milliseconds(500)
    /// The most folders of a camera: each may cost a thread that hangs.
    private static let mostFolders = 8

    /// - Parameter freeBytes: returns the free space of a folder's disk; nil if unknown. Called on other threads.
    init(
        on eventLoop: any EventLoop,
        freeBytes: @escaping @Sendable (String) -> Int? = { Volume.space(of: $0)?.free }
    ) {
        state = .makeBoxSendingValue(State(), eventLoop: eventLoop)
        measure = freeBytes
    }

    /// Returns the text. Callers during a collection and shortly after it share its result.
    func text(for feeds: [CameraFeed], at now: NIODeadline = .now()) -> EventLoopFuture<String> {
        if let current = state.value.current, now < state.value.end { return current }
        let cameras = feeds.map { feed in
            let (name, viewerCount) = (feed.camera.name, feed.viewerCount)
            return statistics(of: feed).map { Camera(name: name, viewerCount: viewerCount, statistics: $0) }
        }
        let text = EventLoopFuture.whenAllSucceed(cameras, on: state.eventLoop).assumeIsolated()
            .flatMap { [self] cameras in
                let folders = cameras.flatMap {
                    ($0.statistics?.outputs.compactMap(\.folder) ?? []).prefix(Self.mostFolders)
                }
                return freeBytes(in: Set(folders)).map { Self.text(cameras, $0) }
            }.nonisolated()
        (state.value.current, state.value.end) = (text, .distantFuture)
        text.assumeIsolated().whenComplete { [state] _ in state.value.end = .now() + Self.life }
        return text
    }

    private func statistics(of feed: CameraFeed) -> EventLoopFuture<RecordingStatistics?> {
        guard let link = feed.recorder else { return state.eventLoop.makeSucceededFuture(nil) }
        return link.ask(.stats).map { answer in
            (try? JSONDecoder().decode(ControlReply.self, from: Data(answer.line.readableBytesView)))?.stats
        }.recover { _ in nil }
    }

    /// Queries each disk on a thread of its own, because one that hangs must not delay the others; late answers are
    /// left out.
    func freeBytes(in folders: Set<String>) -> EventLoopFuture<[String: Int]> {
        let answers = folders.map { folder in query(folder).map { (folder, $0) } }
        return EventLoopFuture.reduce(into: [:], answers, on: state.eventLoop) { $0[$1.0] = $1.1 }
    }

    /// Queries the disk of a folder, unless an earlier query still runs.
    private func query(_ folder: String) -> EventLoopFuture<Int?> {
        let loop = state.eventLoop
        guard state.value.queried.insert(folder).inserted else { return loop.makeSucceededFuture(nil) }
        let answer = loop.makePromise(of: Int?.self)
        let thread = WorkerThread { [state, measure] in
            let free = measure(folder)
            loop.execute {
                state.value.queried.remove(folder)
                answer.succeed(free)
            }
        }
        if let thread {
            thread.detach()
        } else {
            state.value.queried.remove(folder)
            answer.succeed(nil)
        }
        let deadline = loop.assumeIsolated().scheduleTask(in: Self.patience) { answer.succeed(nil) }
        answer.futureResult.whenComplete { _ in deadline.cancel() }
        return answer.futureResult
    }

    private static func text(_ cameras: [Camera], _ freeBytes: [String: Int]) -> String {
        var metrics = PrometheusText()
        metrics.addGauge(
            "camrec_up", "Whether the recorder answers on its control socket.",
            cameras.map {
                .init(labels: [("recording", $0.name)], value: $0.statistics == nil ? 0 : 1)
            })
        metrics.addGauge(
            "camweb_viewers", "Browsers and players that watch a camera through camweb.",
            cameras.map { .init(labels: [("recording", $0.name)], value: Double($0.viewerCount)) })
        let recordings = cameras.compactMap { camera in camera.statistics.map { (camera.name, $0) } }
        RecordingMetrics(recordings).add(to: &metrics) { freeBytes[$0] }
        return metrics.text
    }
}
