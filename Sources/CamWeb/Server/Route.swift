import CamNetworking

/// The resource that a path names. Paths never reach the file system.
enum Route: Hashable {
    case page(PageFile)
    /// The list of cameras as JSON.
    case cameras
    /// A camera's live stream over a WebSocket.
    case live(camera: String)
    /// The page with the form for user and password, and the target of the form.
    case login
    /// The target of the button that ends a session.
    case logout

    /// A resource of a camera's recorder.
    case recorder(camera: String, RecorderTarget)
    /// Metrics for Prometheus.
    case metrics
    /// A resource made from a camera's recordings.
    case recordings(camera: String, RecordingTarget)

    private static let live = "/live/"
    private static let recordings = "/recordings/"
    private static let recorders = "/cameras/"

    /// Whether the resource accepts a form with POST.
    var takesForm: Bool {
        switch self {
        case .login, .logout, .recorder(_, .command): true
        default: false
        }
    }

    /// Reads the target of a request; nil if it names no resource.
    init?(_ target: String) {
        let path = target.prefix { $0 != "?" }
        if let file = PageFile(path: path) {
            self = .page(file)
        } else if path == "/cameras.json" {
            self = .cameras
        } else if path == "/metrics" {
            self = .metrics
        } else if path.hasPrefix(Self.recorders),
            let (camera, target) = RecorderTarget.read(path.dropFirst(Self.recorders.count))
        {
            self = .recorder(camera: camera, target)
        } else if path == "/login" {
            self = .login
        } else if path == "/logout" {
            self = .logout
        } else if path.hasPrefix(Self.live),
            let name = PercentEncoding.decoded(path.dropFirst(Self.live.count))
        {
            self = .live(camera: name)
        } else if path.hasPrefix(Self.recordings),
            let (camera, target) = RecordingTarget.read(
                path.dropFirst(Self.recordings.count), query: target[path.endIndex...].dropFirst())
        {
            self = .recordings(camera: camera, target)
        } else {
            return nil
        }
    }
}

// MARK: Files of the page

/// The files of the page, which are compiled into the program.
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

    /// Whether the login page needs the file, which contains nothing secret.
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
