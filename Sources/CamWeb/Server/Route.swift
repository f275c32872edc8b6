import CamNetworking

/// The resource that a path names. Paths never reach the file system.
enum Route: Hashable {
    case page(PageFile)
    /// The list of cameras as JSON.
    case cameras
    /// A camera's live stream, or its newest picture.
    case live(camera: String)
    /// The page with the form for user and password, and the target of the form.
    case login
    /// The target of the button that ends a session.
    case logout

    /// A resource of a camera's recorder.
    case recorder(camera: String, RecorderTarget)
    /// What the recordings of all cameras take, as JSON.
    case storage
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
        } else if path == "/storage.json" {
            self = .storage
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
    case manifest = "/manifest.webmanifest"
    case address = "/address.js"
    case main = "/camweb.js"
    case chart = "/chart.js"
    case controls = "/controls.js"
    case element = "/element.js"
    case events = "/events.js"
    case export = "/export.js"
    case gestures = "/gestures.js"
    case kept = "/kept.js"
    case keyframe = "/keyframe.js"
    case library = "/library.js"
    case login = "/login.js"
    case media = "/media.js"
    case notes = "/notes.js"
    case picture = "/picture.js"
    case playback = "/playback.js"
    case player = "/player.js"
    case question = "/question.js"
    case recorder = "/recorder.js"
    case recordings = "/recordings.js"
    case request = "/request.js"
    case selection = "/selection.js"
    case snapshot = "/snapshot.js"
    case state = "/state.js"
    case storage = "/storage.js"
    case stream = "/stream.js"
    case tile = "/tile.js"
    case time = "/time.js"
    case timeline = "/timeline.js"

    /// The file at a path; nil if there is none.
    init?(path: some StringProtocol) { self.init(rawValue: String(path)) }

    /// Whether the login page needs the file, which contains nothing secret. Browsers fetch the manifest without a cookie.
    var isPublic: Bool { [.style, .icon, .login, .manifest].contains(self) }

    var contentType: String {
        switch self {
        case .document: "text/html; charset=utf-8"
        case .style: "text/css; charset=utf-8"
        case .icon: "image/svg+xml"
        case .manifest: "application/manifest+json"
        default: "text/javascript; charset=utf-8"
        }
    }

    var bytes: [UInt8] {
        switch self {
        case .document: PackageResources.index_html
        case .style: PackageResources.page_css
        case .icon: PackageResources.icon_svg
        case .manifest: PackageResources.manifest_webmanifest
        case .address: PackageResources.address_js
        case .main: PackageResources.camweb_js
        case .chart: PackageResources.chart_js
        case .controls: PackageResources.controls_js
        case .element: PackageResources.element_js
        case .events: PackageResources.events_js
        case .export: PackageResources.export_js
        case .gestures: PackageResources.gestures_js
        case .kept: PackageResources.kept_js
        case .keyframe: PackageResources.keyframe_js
        case .library: PackageResources.library_js
        case .login: PackageResources.login_js
        case .media: PackageResources.media_js
        case .notes: PackageResources.notes_js
        case .picture: PackageResources.picture_js
        case .playback: PackageResources.playback_js
        case .player: PackageResources.player_js
        case .question: PackageResources.question_js
        case .recorder: PackageResources.recorder_js
        case .recordings: PackageResources.recordings_js
        case .request: PackageResources.request_js
        case .selection: PackageResources.selection_js
        case .snapshot: PackageResources.snapshot_js
        case .state: PackageResources.state_js
        case .storage: PackageResources.storage_js
        case .stream: PackageResources.stream_js
        case .tile: PackageResources.tile_js
        case .time: PackageResources.time_js
        case .timeline: PackageResources.timeline_js
        }
    }
}
