/// The files of the page, which are part of the program.
enum PageFile: String, Hashable, Sendable, CaseIterable {
    case document = "/"
    case style = "/page.css"
    case icon = "/icon.svg"
    case main = "/camweb.js"
    case stream = "/stream.js"
    case picture = "/picture.js"
    case tile = "/tile.js"
    case media = "/media.js"
    case recordings = "/recordings.js"
    case recorder = "/recorder.js"
    case controls = "/controls.js"
    case chart = "/chart.js"
    case element = "/element.js"
    case timeline = "/timeline.js"
    case playback = "/playback.js"

    /// The file at a path; nil if there is none.
    init?(path: some StringProtocol) { self.init(rawValue: String(path)) }

    /// Whether the login page needs it. What is in it, everybody can read in camweb's sources.
    var isPublic: Bool { self == .style || self == .icon }

    var contentType: String {
        switch self {
        case .document: "text/html; charset=utf-8"
        case .style: "text/css; charset=utf-8"
        case .icon: "image/svg+xml"
        case .main, .stream, .picture, .tile, .media, .recordings, .timeline, .playback, .recorder,
            .controls, .chart, .element:
            "text/javascript; charset=utf-8"
        }
    }

    var bytes: [UInt8] {
        switch self {
        case .document: PackageResources.index_html
        case .style: PackageResources.page_css
        case .icon: PackageResources.icon_svg
        case .main: PackageResources.camweb_js
        case .stream: PackageResources.stream_js
        case .picture: PackageResources.picture_js
        case .tile: PackageResources.tile_js
        case .media: PackageResources.media_js
        case .recordings: PackageResources.recordings_js
        case .recorder: PackageResources.recorder_js
        case .controls: PackageResources.controls_js
        case .chart: PackageResources.chart_js
        case .element: PackageResources.element_js
        case .timeline: PackageResources.timeline_js
        case .playback: PackageResources.playback_js
        }
    }
}
