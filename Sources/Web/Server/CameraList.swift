/// The cameras of a server, by name.
final class CameraList: Sendable {
    /// In the order of the page.
    private let feeds: [CameraFeed]
    private let byName: [String: CameraFeed]

    init(_ feeds: [CameraFeed]) {
        self.feeds = feeds
        byName = Dictionary(feeds.map { ($0.camera.name, $0) }) { first, _ in first }
    }

    subscript(name: String) -> CameraFeed? { byName[name] }

    /// What the page knows about a camera at first.
    private struct Entry: Encodable {
        let name: String
    }

    /// The list for the page.
    var json: String { JSON.text(of: feeds.map { Entry(name: $0.camera.name) }) }
}
