import NIOHTTP1
import Output

/// Decides what each request gets.
struct RequestDesk: Sendable {
    let policy: RequestPolicy
    let cameras: CameraList

    /// Whether a request asks for a WebSocket.
    static func isWebSocket(_ head: HTTPRequestHead) -> Bool {
        head.headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
    }

    /// Returns the stream that a WebSocket may have; nil for a request that gets an ordinary response.
    func feed(for head: HTTPRequestHead) -> CameraFeed? {
        guard head.method == .GET, (try? policy.check(head, isWebSocket: true)) != nil,
            case .live(let name)? = Route(head.uri)
        else { return nil }
        return cameras[name]
    }

    /// The answer to a request that is not, or may not be, a WebSocket.
    enum Answer {
        case response(Response)
        /// A stream without an end.
        case stream(CameraFeed, LiveForm, authority: String)
    }

    /// Returns the answer to a request that is not, or may not be, a WebSocket.
    func answer(to head: HTTPRequestHead) -> Answer {
        do throws(Refusal) {
            let authority = try policy.check(head, isWebSocket: Self.isWebSocket(head))
            switch Route(head.uri) {
            case .page(let file):
                return .response(
                    Response(type: file.contentType, body: file.bytes, authority: authority))
            case .cameras:
                cameras.refresh()
                return .response(
                    Response(
                        type: "application/json", body: Array(cameras.json.utf8), authority: authority))
            case .live(let name):
                guard cameras[name] == nil else { throw Refusal.needsWebSocket }
                guard let (feed, form) = container(called: name) else { throw Refusal.unknownPath }
                return .stream(feed, form, authority: authority)
            case nil: throw Refusal.unknownPath
            }
        } catch {
            return .response(Response(error))
        }
    }

    /// The stream that `door.mp4` or `door.ts` names.
    private func container(called name: String) -> (CameraFeed, LiveForm)? {
        guard let format = ContainerFormat(path: name), let form = LiveForm(format),
            let feed = cameras[String(name.dropLast(format.rawValue.count + 1))]
        else { return nil }
        return (feed, form)
    }
}
