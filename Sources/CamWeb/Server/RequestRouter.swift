import CamNetworking
import NIOCore
import NIOHTTP1
import Containers

/// Routes each request to its answer.
struct RequestRouter: Sendable {
    let policy: RequestPolicy
    let placement: Placement
    let cameras: CameraList
    let access: Authenticator
    let workers: RecordingWorkers
    let metrics: MetricsCollector
    let storage: StorageCollector

    /// Whether a request asks for a WebSocket.
    static func isWebSocket(_ head: HTTPRequestHead) -> Bool {
        head.headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
    }

    /// Returns the viewer for a WebSocket; nil for a request that gets an ordinary response.
    func viewer(for head: HTTPRequestHead) -> WebSocketViewer? {
        let access = access.access(of: head)
        guard head.method == .GET, (try? policy.check(head, isWebSocket: true)) != nil,
            access != .none, case .live(let name)? = route(of: head)
        else { return nil }
        let seesDetails = access.rights.seesDetails
        if let feed = cameras.stream(named: name) {
            return WebSocketViewer(feed, .messages, seesDetails: seesDetails)
        }
        guard let (feed, form) = container(called: name), form == .mp4 else { return nil }
        return WebSocketViewer(feed, .fragments, seesDetails: seesDetails)
    }

    /// The answer to a request that is not, or may not be, a WebSocket.
    enum Answer {
        case response(Response)
        /// A response that is not ready yet.
        case later(EventLoopFuture<Response>)
        /// A stream without an end.
        case stream(CameraFeed, LiveForm, authority: String, Rights)
        /// A response that another thread makes from recordings.
        case recording(RecordingRequest)
    }

    /// The most bytes of a request's body; 0 if it may have none.
    func longestBody(of head: HTTPRequestHead) -> Int {
        head.method == .POST && route(of: head)?.takesForm == true ? Self.longestForm : 0
    }

    /// The resource that a request names; nil if there is none, or if the target is outside the base.
    private func route(of head: HTTPRequestHead) -> Route? {
        placement.base.relative(head.uri).flatMap { Route($0) }
    }

    /// The most bytes of a form; more than user and password take with each byte escaped.
    private static let longestForm = 4 << 10

    /// Returns the answer to a form.
    /// - Parameter client: the client that sent it.
    func answer(to head: HTTPRequestHead, form: ByteBuffer, from client: ClientAddress) -> Answer {
        do throws(Refusal) {
            let authority = try policy.checkForm(head)
            let form = FormBody(form.readableBytesView)
            switch route(of: head) {
            case .login: return .later(access.logIn(form, head, from: client, authority: authority))
            case .recorder(let name, .command):
                return answer(toCommand: form, for: name, access.access(of: head), authority: authority)
            default: return .response(access.logOut(head, authority: authority))
            }
        } catch {
            return .response(Response(error))
        }
    }

    private func answer(
        toCommand form: FormBody?, for name: String, _ access: Authenticator.Access, authority: String
    ) -> Answer {
        do throws(Refusal) {
            guard access != .none else { throw Refusal.notLoggedIn }
            try access.rights.permit(.recorder(camera: name, .command))
            let recorder = try recorder(of: name, access.rights, authority: authority)
            return .later(try recorder.carryOut(form))
        } catch {
            return .response(Response(error, for: access.rights))
        }
    }

    /// Returns the answer to a request that is not, or may not be, a WebSocket.
    func answer(to head: HTTPRequestHead) -> Answer {
        do throws(Refusal) {
            let authority = try policy.check(head, isWebSocket: Self.isWebSocket(head))
            return answer(to: head, access.access(of: head), authority: authority)
        } catch {
            return .response(Response(error))
        }
    }

    private func answer(
        to head: HTTPRequestHead, _ access: Authenticator.Access, authority: String
    ) -> Answer {
        do throws(Refusal) {
            let redirect = Authenticator.redirect(to: placement.base.page, authority: authority)
            if placement.base.isBare(head.uri) { return .response(redirect) }
            guard placement.base.relative(head.uri) != nil else { throw Refusal.unknownPath }
            let route = route(of: head)
            if access == .none, let answer = try answerToStranger(route, head, authority) { return answer }
            try access.rights.permit(route)
            switch route {
            case .login, .logout: return .response(redirect)
            case .page(.document):
                return .response(Response(page: PageFile.document.bytes, at: placement, authority: authority))
            case .page(let file):
                return .response(
                    Response(type: file.contentType, body: file.bytes, authority: authority))
            case .cameras:
                return .later(cameraList(for: access, authority: authority))
            case .live(let name):
                guard cameras.stream(named: name) == nil else { throw Refusal.needsWebSocket }
                if let name = pictured(name) {
                    return .later(
                        try recorder(of: name, access.rights, authority: authority).answer(.snapshot))
                }
                guard let (feed, form) = container(called: name) else { throw Refusal.unknownPath }
                return .stream(feed, form, authority: authority, access.rights)
            case .recorder(let name, let target):
                return .later(try recorder(of: name, access.rights, authority: authority).answer(target))
            case .storage:
                return .later(
                    storage.json(for: cameras.feeds).map {
                        Response(type: "application/json", body: Array($0.utf8), authority: authority)
                    })
            case .metrics: return .later(metricsResponse(authority: authority))
            case .recordings(let name, let target):
                return .recording(try recording(of: name, target, head, access.rights, authority: authority))
            case nil: throw Refusal.unknownPath
            }
        } catch {
            return .response(Response(error, for: access.rights))
        }
    }

    private func cameraList(
        for access: Authenticator.Access, authority: String
    ) -> EventLoopFuture<Response> {
        cameras.refresh().assumeIsolated().map {
            let headers = access.headers.merging(cameras.headers(for: access.rights)) { old, _ in old }
            return Response(
                type: "application/json", body: Array(cameras.json.utf8), authority: authority,
                extra: headers)
        }.nonisolated()
    }

    private func recorder(
        of name: String, _ rights: Rights, authority: String
    ) throws(Refusal) -> RecorderRequestHandler {
        guard let feed = cameras[name] else { throw .unknownPath }
        return try RecorderRequestHandler(feed, rights, authority: authority)
    }

    /// Refreshes the cameras first, because without an open page nothing else does.
    private func metricsResponse(authority: String) -> EventLoopFuture<Response> {
        cameras.refresh().assumeIsolated().flatMap { metrics.text(for: cameras.feeds) }.map { text in
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
            .response(Authenticator.redirect(to: placement.base.login, authority: authority))
        case .login: .response(LoginPage.response(at: placement, authority: authority))
        // Browsers, which send Sec-Fetch-Mode, have the login page and must not show their password dialog.
        default: throw head.headers.contains(name: "sec-fetch-mode") ? .notLoggedIn : .needsPassword
        }
    }

    private func recording(
        of name: String, _ target: RecordingTarget, _ head: HTTPRequestHead, _ rights: Rights,
        authority: String
    ) throws(Refusal) -> RecordingRequest {
        guard let feed = cameras[name] else { throw .unknownPath }
        guard let catalog = feed.recordings else { throw .noRecordings }
        let ranges = head.headers["range"]
        return RecordingRequest(
            camera: name, catalog: catalog, target: target, rights: rights, authority: authority,
            range: ranges.count == 1 ? ranges.first : nil, condition: head.headers["if-range"].first,
            isHead: head.method == .HEAD)
    }

    /// The camera whose newest picture `door.jpg` names; nil for another name.
    private func pictured(_ name: String) -> String? {
        guard name.hasSuffix(Self.pictureEnding) else { return nil }
        guard let feed = cameras.stream(named: String(name.dropLast(Self.pictureEnding.count))) else {
            return nil
        }
        // The recorder's snapshot has its whole picture in any case.
        let camera = feed.camera.name
        return camera.hasSuffix(Camera.smallEnding)
            ? String(camera.dropLast(Camera.smallEnding.count)) : camera
    }

    private static let pictureEnding = ".jpg"

    /// The stream that `door.mp4`, `door.ts` or `door/small.mp4` names.
    private func container(called name: String) -> (CameraFeed, LiveForm)? {
        guard let format = ContainerFormat(path: name), let form = LiveForm(format),
            let feed = cameras.stream(named: String(name.dropLast(format.rawValue.count + 1)))
        else { return nil }
        return (feed, form)
    }
}

extension Authenticator.Access {
    /// The headers that tell the page which user has logged in, whether it may send commands, and whether it has details
    /// to show.
    fileprivate var headers: [String: String] {
        var headers: [String: String] = [:]
        if case .session(_, let user, _) = self { headers["Camweb-User"] = user }
        if rights.mayChange { headers["Camweb-Changes"] = "allowed" }
        if rights.seesDetails { headers["Camweb-Details"] = "shown" }
        return headers
    }
}
