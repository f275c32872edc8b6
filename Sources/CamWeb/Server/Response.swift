import NIOCore
import NIOHTTP1

/// A complete answer to a request.
struct Response {
    let status: HTTPResponseStatus
    let headers: HTTPHeaders
    /// Shared by all who get the same.
    let body: ByteBuffer

    /// - Parameter authority: what the browser connected to, once it was checked; nil for a refusal.
    init(
        _ status: HTTPResponseStatus = .ok, type: String, body: ByteBuffer, authority: String?,
        extra: [String: String] = [:]
    ) {
        var headers = Self.headers(type: type, authority: authority)
        headers.add(name: "Content-Length", value: "\(body.readableBytes)")
        for (name, value) in extra { headers.add(name: name, value: value) }
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// Creates a response with bytes of its own.
    init(
        _ status: HTTPResponseStatus = .ok, type: String, body: [UInt8], authority: String?,
        extra: [String: String] = [:]
    ) {
        self.init(status, type: type, body: ByteBuffer(bytes: body), authority: authority, extra: extra)
    }

    /// The headers of every response.
    static func headers(type: String, authority: String?) -> HTTPHeaders {
        HTTPHeaders([
            ("Content-Type", type),
            // The page belongs to the program's version.
            ("Cache-Control", "no-store"),
            ("Content-Security-Policy", contentPolicy(for: authority)),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            // With less, browsers send "null" as the origin of a form.
            ("Referrer-Policy", "same-origin"),
            ("X-Content-Type-Options", "nosniff"),
        ])
    }

    init(_ refusal: Refusal) {
        self.init(
            refusal.status, type: "text/plain; charset=utf-8", body: Array("\(refusal.reason)\n".utf8),
            authority: nil, extra: refusal.headers)
    }

    /// Allows what the page needs: its own files, its own WebSockets, which not every browser counts as `'self'`, and
    /// pictures that a script makes.
    private static func contentPolicy(for authority: String?) -> String {
        let nothing = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action "
        guard let authority else { return nothing + "'none'" }
        return nothing + "'self'; script-src 'self'; style-src 'self'; img-src 'self'; media-src blob:; "
            + "connect-src 'self' ws://\(authority) wss://\(authority)"
    }
}
