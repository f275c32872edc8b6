import CamNetworking
import CamPlatform
import NIOCore

/// The cameras of a server, kept equal to those of its source.
final class CameraList: Sendable {
    private let source: CameraSource
    private let read: @Sendable () -> CameraSource.Found
    /// Starts the feed of a camera.
    private let open: @Sendable (Camera) throws(NetworkError) -> CameraFeed
    private let report: @Sendable (String) -> Void
    private let contents: NIOLoopBoundBox<Contents>

    /// Belongs to the event loop.
    private struct Contents {
        /// In the order of the page.
        var feeds: [CameraFeed] = []
        /// The list for the page, encoded once for all requests.
        var json = "[]"
        /// Why there are no cameras.
        var emptiness: String?
        /// When the source may be read again.
        var nextRead = NIODeadline.uptimeNanoseconds(0)
        /// Whether a thread reads the source, which may hang.
        var isReading = false
        /// Completes when the running read has ended, or has taken too long.
        var refreshed: EventLoopFuture<Void>?
    }

    /// The shortest time between two reads of the source.
    private static let pause = TimeAmount.seconds(1)
    /// How long a request waits for the source; afterwards it gets the cameras known so far.
    private static let patience = TimeAmount.seconds(1)

    /// - Parameter read: reads the source, on a thread of its own; nil for the source itself.
    init(
        _ source: CameraSource, on eventLoop: any EventLoop, report: @escaping @Sendable (String) -> Void,
        open: @escaping @Sendable (Camera) throws(NetworkError) -> CameraFeed,
        read: (@Sendable () -> CameraSource.Found)? = nil
    ) {
        (self.source, self.open, self.report) = (source, open, report)
        self.read = read ?? { source.find() }
        contents = .makeBoxSendingValue(Contents(), eventLoop: eventLoop)
    }

    /// The feed of a camera. Call it on the event loop, like all members of this class.
    subscript(name: String) -> CameraFeed? { contents.value.feeds.first { $0.camera.name == name } }

    /// The feed of the stream that `door`, or `door/small`, names.
    func stream(named name: String) -> CameraFeed? {
        if let feed = self[name] { return feed }
        guard name.hasSuffix(Camera.smallEnding) else { return nil }
        return self[String(name.dropLast(Camera.smallEnding.count))]?.small
    }

    /// The feeds of all cameras, in the order of the page.
    var feeds: [CameraFeed] { contents.value.feeds }

    /// A camera in the list for the page.
    private struct Entry: Encodable {
        let name: String
        /// Whether it may have recordings.
        let recordings: Bool
        /// Whether its recorder has a control socket.
        let recorder: Bool
        /// Whether it has a stream of smaller pictures.
        let small: Bool
    }

    /// The list for the page.
    var json: String { contents.value.json }

    /// The header that tells the page why there are no cameras.
    func headers(for rights: Rights) -> [String: String] {
        contents.value.emptiness.map {
            ["Camweb-Empty": PercentEncoding.encoded(rights.seesDetails ? $0 : "no cameras yet")]
        } ?? [:]
    }

    /// Adds new cameras and removes those that are gone, at most once in `pause`. The source is read on another thread.
    /// - Returns: completes when the list is current, or when the source has taken too long.
    @discardableResult
    func refresh(at now: NIODeadline = .now()) -> EventLoopFuture<Void> {
        if let refreshed = contents.value.refreshed { return refreshed }
        let isDue = now >= contents.value.nextRead && !contents.value.isReading
        guard isDue else { return contents.eventLoop.makeSucceededVoidFuture() }
        contents.value.nextRead = now + Self.pause
        if case .given = source {
            if contents.value.feeds.isEmpty { apply(read()) }
            return contents.eventLoop.makeSucceededVoidFuture()
        }
        return readSource()
    }

    private func readSource() -> EventLoopFuture<Void> {
        let loop = contents.eventLoop
        let done = loop.makePromise(of: Void.self)
        let thread = WorkerThread { [self] in
            let found = read()
            loop.execute { [self] in
                contents.value.isReading = false
                apply(found)
                done.succeed()
            }
        }
        guard let thread else {
            done.succeed()
            return done.futureResult
        }
        thread.detach()
        contents.value.isReading = true
        contents.value.refreshed = done.futureResult
        let deadline = loop.assumeIsolated().scheduleTask(in: Self.patience) { done.succeed() }
        done.futureResult.assumeIsolated().whenComplete { [contents] _ in
            deadline.cancel()
            contents.value.refreshed = nil
        }
        return done.futureResult
    }

    private func apply(_ found: CameraSource.Found) {
        let before = contents.value.feeds
        for feed in before where !found.cameras.contains(feed.camera) {
            // A camera of the same name has other settings.
            let isChanged = found.cameras.contains { $0.name == feed.camera.name }
            feed.end()
            report("\(feed.camera.name): \(isChanged ? "its settings changed" : "gone")")
        }
        contents.value.feeds = found.cameras.compactMap { camera in
            before.first { $0.camera == camera } ?? opened(camera)
        }
        contents.value.emptiness = contents.value.feeds.isEmpty ? found.emptiness : nil
        contents.value.json = JSON.text(
            of: contents.value.feeds.map {
                Entry(
                    name: $0.camera.name, recordings: $0.recordings != nil, recorder: $0.recorder != nil,
                    small: $0.small != nil)
            })
    }

    private func opened(_ camera: Camera) -> CameraFeed? {
        do throws(NetworkError) {
            let feed = try open(camera)
            report("\(camera.name): found at \(camera.address)")
            return feed
        } catch {
            report("\(camera.name): \(error)")
            return nil
        }
    }
}
