import NIOHTTP1

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

    /// Returns the response to a request that is not, or may not be, a WebSocket.
    func response(to head: HTTPRequestHead) -> Response {
        do throws(Refusal) {
            let authority = try policy.check(head, isWebSocket: Self.isWebSocket(head))
            switch Route(head.uri) {
            case .page(let file):
                return Response(type: file.contentType, body: file.bytes, authority: authority)
            case .cameras:
                return Response(
                    type: "application/json", body: Array(cameras.json.utf8), authority: authority)
            case .live(let name) where cameras[name] != nil: throw Refusal.needsWebSocket
            case .live, nil: throw Refusal.unknownPath
            }
        } catch {
            return Response(error)
        }
    }
}
