import NIOCore
import CamNetworking

/// The cameras of a server, kept equal to those of its source.
final class CameraList: Sendable {
    private let source: CameraSource
    /// Starts the feed of a camera.
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

    /// The shortest time between two reads of the source.
    private static let pause = TimeAmount.seconds(1)

    init(
        _ source: CameraSource, on eventLoop: any EventLoop, report: @escaping @Sendable (String) -> Void,
        open: @escaping @Sendable (Camera) throws(NetworkError) -> CameraFeed
    ) {
        (self.source, self.open, self.report) = (source, open, report)
        contents = .makeBoxSendingValue(Contents(), eventLoop: eventLoop)
    }

    /// The feed of a camera. Call it on the event loop, like all members of this class.
    subscript(name: String) -> CameraFeed? { contents.value.feeds.first { $0.camera.name == name } }

    /// The feeds of all cameras, in the order of the page.
    var feeds: [CameraFeed] { contents.value.feeds }

    /// A camera in the list for the page.
    private struct Entry: Encodable {
        let name: String
        /// Whether it may have recordings.
        let recordings: Bool
        /// Whether its recorder has a control socket.
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

    /// Adds new cameras and removes those that are gone, at most once in `pause`.
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
