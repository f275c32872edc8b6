import CamControlProtocol
import CamPlatform
import FoundationEssentials
import NIOCore
import NIOPosix

/// Collects the metrics of all cameras for Prometheus. Used on the event loop.
final class MetricsDesk: Sendable {
    private let disks: NIOThreadPool
    private let state: NIOLoopBoundBox<State>

    /// Belongs to the event loop.
    private struct State {
        /// The running collection.
        var current: EventLoopFuture<String>?
        /// Whether a query of the disks is running.
        var isLooking = false
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

    init(on eventLoop: any EventLoop) {
        state = .makeBoxSendingValue(State(), eventLoop: eventLoop)
        disks = NIOThreadPool(numberOfThreads: 1)
        disks.start()
    }

    /// Ends the thread. Call it off the event loop.
    func stop() { disks.shutdownGracefully { _ in } }

    /// Returns the text. Callers during a collection share its result.
    func text(for feeds: [CameraFeed]) -> EventLoopFuture<String> {
        if let current = state.value.current { return current }
        let cameras = feeds.map { feed in
            let (name, viewerCount) = (feed.camera.name, feed.viewerCount)
            return statistics(of: feed).map { Camera(name: name, viewerCount: viewerCount, statistics: $0) }
        }
        let text = EventLoopFuture.whenAllSucceed(cameras, on: state.eventLoop).assumeIsolated()
            .flatMap { [self] cameras in
                let folders = Set(cameras.flatMap { $0.statistics?.outputs.compactMap(\.folder) ?? [] })
                return freeBytes(in: folders).map { Self.text(cameras, $0) }
            }.nonisolated()
        state.value.current = text
        text.assumeIsolated().whenComplete { [state] _ in state.value.current = nil }
        return text
    }

    private func statistics(of feed: CameraFeed) -> EventLoopFuture<RecordingStatistics?> {
        guard let link = feed.recorder else { return state.eventLoop.makeSucceededFuture(nil) }
        return link.ask(.stats).map { answer in
            (try? JSONDecoder().decode(ControlReply.self, from: Data(answer.line.readableBytesView)))?.stats
        }.recover { _ in nil }
    }

    /// Queries the disks off the event loop; late answers are left out.
    private func freeBytes(in folders: Set<String>) -> EventLoopFuture<[String: Int]> {
        guard !state.value.isLooking, !folders.isEmpty else {
            return state.eventLoop.makeSucceededFuture([:])
        }
        state.value.isLooking = true
        let known = state.eventLoop.makePromise(of: [String: Int].self)
        let deadline = state.eventLoop.scheduleTask(in: Self.patience) { known.succeed([:]) }
        disks.runIfActive(eventLoop: state.eventLoop) {
            folders.reduce(into: [:]) { $0[$1] = Volume.space(of: $1)?.free }
        }.assumeIsolated().whenComplete { [state] result in
            state.value.isLooking = false
            deadline.cancel()
            known.succeed((try? result.get()) ?? [:])
        }
        return known.futureResult
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
