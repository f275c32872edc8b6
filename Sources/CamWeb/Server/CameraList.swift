import NIOCore
import CamNetworking

/// A server's cameras, by name: those that its source has now.
final class CameraList: Sendable {
    private let source: CameraSource
    /// Starts a camera's feed.
    private let open: @Sendable (Camera) throws(NetworkError) -> CameraFeed
    private let report: @Sendable (String) -> Void
    private let contents: NIOLoopBoundBox<Contents>

    /// Belongs to the event loop.
    private struct Contents {
        /// In the order of the page.
        var feeds: [CameraFeed] = []
        /// When the source was last read.
        var time = NIODeadline.uptimeNanoseconds(0)
    }

    /// The shortest time between looks at the source, however many pages ask.
    private static let pause = TimeAmount.seconds(1)

    init(
        _ source: CameraSource, on eventLoop: any EventLoop, report: @escaping @Sendable (String) -> Void,
        open: @escaping @Sendable (Camera) throws(NetworkError) -> CameraFeed
    ) {
        (self.source, self.open, self.report) = (source, open, report)
        contents = .makeBoxSendingValue(Contents(), eventLoop: eventLoop)
    }

    /// Call it on the event loop, as everything else here.
    subscript(name: String) -> CameraFeed? { contents.value.feeds.first { $0.camera.name == name } }

    /// All of them, in the order of the page.
    var feeds: [CameraFeed] { contents.value.feeds }

    /// What the page knows about a camera at first.
    private struct Entry: Encodable {
        let name: String
        /// Whether it may have recordings.
        let recordings: Bool
        /// Whether its recorder can be asked.
        let recorder: Bool
    }

    /// The list for the page.
    var json: String {
        JSON.text(
            of: contents.value.feeds.map {
                Entry(
                    name: $0.camera.name, recordings: $0.recordings != nil, recorder: $0.recorder != nil)
            })
    }

    /// Looks whether cameras have come or gone, unless that was done just now.
    func refresh(at now: NIODeadline = .now()) {
        guard contents.value.feeds.isEmpty || now - contents.value.time >= Self.pause else { return }
        contents.value.time = now
        let cameras = source.cameras()
        let before = contents.value.feeds
        for feed in before where !cameras.contains(feed.camera) {
            feed.end()
            report("\(feed.camera.name): gone")
        }
        contents.value.feeds = cameras.compactMap { camera in
            before.first { $0.camera == camera } ?? opened(camera)
        }
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
