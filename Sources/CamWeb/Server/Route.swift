import CamNetworking

/// What a path leads to. Paths never reach the file system.
enum Route: Hashable {
    case page(PageFile)
    /// The list of cameras, as JSON.
    case cameras
    /// A camera's live stream over a WebSocket.
    case live(camera: String)
    /// The page with the form for user and password, and where the form goes.
    case login
    /// Where the button goes that ends a session.
    case logout

    /// A camera's recorder.
    case recorder(camera: String, RecorderTarget)
    /// Metrics for Prometheus.
    case metrics
    /// A camera's recordings.
    case recordings(camera: String, RecordingTarget)

    private static let live = "/live/"
    private static let recordings = "/recordings/"
    private static let recorders = "/cameras/"

    /// Whether it takes a form, with POST.
    var takesForm: Bool {
        switch self {
        case .login, .logout, .recorder(_, .command): true
        default: false
        }
    }

    /// Reads a request's target; nil if it leads nowhere.
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
