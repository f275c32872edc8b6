import CamNetworking
import NIOCore
import NIOHTTP1
import Containers

/// Routes each request to its answer.
struct RequestDesk: Sendable {
    let policy: RequestPolicy
    let cameras: CameraList
    let access: AccessDesk
    let workers: RecordingWorkers
    let metrics: MetricsDesk

    /// Whether a request asks for a WebSocket.
    static func isWebSocket(_ head: HTTPRequestHead) -> Bool {
        head.headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
    }

    /// Returns the feed for a WebSocket; nil for a request that gets an ordinary response.
    func feed(for head: HTTPRequestHead) -> CameraFeed? {
        guard head.method == .GET, (try? policy.check(head, isWebSocket: true)) != nil,
            access.access(of: head) != .none, case .live(let name)? = Route(head.uri)
        else { return nil }
        return cameras[name]
    }

    /// The answer to a request that is not, or may not be, a WebSocket.
    enum Answer {
        case response(Response)
        /// A response that is not ready yet.
        case later(EventLoopFuture<Response>)
        /// A stream without an end.
        case stream(CameraFeed, LiveForm, authority: String)
        /// A response that another thread makes from recordings.
        case recording(RecordingRequest)
    }

    /// The most bytes of a request's body; 0 if it may have none.
    static func longestBody(of head: HTTPRequestHead) -> Int {
        head.method == .POST && Route(head.uri)?.takesForm == true ? longestForm : 0
    }

    /// The most bytes of a form; more than user and password take with each byte escaped.
    private static let longestForm = 4 << 10

    /// Returns the answer to a form.
    /// - Parameter client: the client that sent it.
    func answer(to head: HTTPRequestHead, form: ByteBuffer, from client: ClientAddress) -> Answer {
        do throws(Refusal) {
            let authority = try policy.checkForm(head)
            let form = FormBody(form.readableBytesView)
            switch Route(head.uri) {
            case .login: return .later(access.logIn(form, head, from: client, authority: authority))
            case .recorder(let name, .command):
                guard access.access(of: head) != .none else { throw Refusal.notLoggedIn }
                guard access.allowsChanges else { throw Refusal.noChanges }
                return .later(try recorder(of: name, authority: authority).carryOut(form))
            default: return .response(access.logOut(head, authority: authority))
            }
        } catch {
            return .response(Response(error))
        }
    }

    /// Returns the answer to a request that is not, or may not be, a WebSocket.
    func answer(to head: HTTPRequestHead) -> Answer {
        do throws(Refusal) {
            let authority = try policy.check(head, isWebSocket: Self.isWebSocket(head))
            let route = Route(head.uri)
            let access = access.access(of: head)
            if access == .none, let answer = try answerToStranger(route, head, authority) { return answer }
            switch route {
            case .login, .logout:
                return .response(AccessDesk.redirect(to: "/", authority: authority))
            case .page(let file):
                return .response(
                    Response(type: file.contentType, body: file.bytes, authority: authority))
            case .cameras:
                cameras.refresh()
                return .response(
                    Response(
                        type: "application/json", body: Array(cameras.json.utf8), authority: authority,
                        extra: access.headers.merging(changes) { old, _ in old }))
            case .live(let name):
                guard cameras[name] == nil else { throw Refusal.needsWebSocket }
                guard let (feed, form) = container(called: name) else { throw Refusal.unknownPath }
                return .stream(feed, form, authority: authority)
            case .recorder(let name, let target):
                return .later(try recorder(of: name, authority: authority).answer(target))
            case .metrics: return .later(metricsResponse(authority: authority))
            case .recordings(let name, let target):
                return .recording(try recording(of: name, target, head, authority: authority))
            case nil: throw Refusal.unknownPath
            }
        } catch {
            return .response(Response(error))
        }
    }

    /// The header that tells the page whether it may send commands.
    private var changes: [String: String] { access.allowsChanges ? ["Camweb-Changes": "allowed"] : [:] }

    private func recorder(of name: String, authority: String) throws(Refusal) -> RecorderDesk {
        guard let feed = cameras[name] else { throw .unknownPath }
        return try RecorderDesk(feed, authority: authority)
    }

    /// Refreshes the cameras first, because without an open page nothing else does.
    private func metricsResponse(authority: String) -> EventLoopFuture<Response> {
        cameras.refresh()
        return metrics.text(for: cameras.feeds).assumeIsolated().map { text in
            Response(
                type: "text/plain; version=0.0.4; charset=utf-8", body: Array(text.utf8),
                authority: authority)
        }.nonisolated()
    }

    /// The answer for a client that has not logged in; nil for a public resource.
    private func answerToStranger(
        _ route: Route?, _ head: HTTPRequestHead, _ authority: String
    ) throws(Refusal) -> Answer? {
        switch route {
        case .page(let file) where file.isPublic: nil
        case .page(.document), .logout:
            .response(AccessDesk.redirect(to: "/login", authority: authority))
        case .login: .response(LoginPage.response(authority: authority))
        // Browsers, which send Sec-Fetch-Mode, have the login page and must not show their password dialog.
        default: throw head.headers.contains(name: "sec-fetch-mode") ? .notLoggedIn : .needsPassword
        }
    }

    private func recording(
        of name: String, _ target: RecordingTarget, _ head: HTTPRequestHead, authority: String
    ) throws(Refusal) -> RecordingRequest {
        guard let feed = cameras[name] else { throw .unknownPath }
        guard let catalog = feed.recordings else { throw .noRecordings }
        let ranges = head.headers["range"]
        return RecordingRequest(
            camera: name, catalog: catalog, target: target, authority: authority,
            range: ranges.count == 1 ? ranges.first : nil, condition: head.headers["if-range"].first)
    }

    /// The stream that `door.mp4` or `door.ts` names.
    private func container(called name: String) -> (CameraFeed, LiveForm)? {
        guard let format = ContainerFormat(path: name), let form = LiveForm(format),
            let feed = cameras[String(name.dropLast(format.rawValue.count + 1))]
        else { return nil }
        return (feed, form)
    }
}

extension AccessDesk.Access {
    /// The header that tells the page which user has logged in.
    fileprivate var headers: [String: String] {
        if case .session(_, let user) = self { ["Camweb-User": user] } else { [:] }
    }
}
