import NIOHTTP1
import Testing

@testable import CamWeb

@Suite("which requests are served")
struct RequestPolicyTests {
    private let policy = RequestPolicy(hosts: ["Cameras.example.org"])

    /// - Returns: the refusal; nil if there is none.
    private func refusal(
        _ headers: [(String, String)], method: HTTPMethod = .GET, isWebSocket: Bool = false,
        by policy: RequestPolicy? = nil
    ) -> Refusal? {
        let policy = policy ?? self.policy
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: "/", headers: HTTPHeaders(headers))
        do throws(Refusal) {
            _ = try policy.check(head, isWebSocket: isWebSocket)
            return nil
        } catch { return error }
    }

    @Test(
        "this machine's names, and the one given",
        arguments: [
            "127.0.0.1:8080", "localhost:8080", "LOCALHOST", "[::1]:8080", "[::1]", "127.0.0.1",
            "cameras.example.org",
            "cameras.example.org:443",
        ])
    func hosts(host: String) { #expect(refusal([("Host", host)]) == nil) }

    @Test(
        "no other name, whatever it resolves to",
        arguments: [
            "evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example",
            "127.0.0.1:8080.evil",
            "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:+80", "127.0.0.1@evil.example", "[::1]evil", "[::1",
            "", " ",
            "127.0.0.2", "0.0.0.0", "localhost.", "a;script-src *", "localhost:80 evil",
        ])
    func otherHosts(host: String) { #expect(refusal([("Host", host)]) == .otherHost) }

    @Test("exactly one host")
    func oneHost() {
        #expect(refusal([]) == .noHost)
        #expect(refusal([("Host", "localhost"), ("Host", "evil.example")]) == .noHost)
    }

    @Test("a WebSocket needs the page's own origin")
    func webSocketOrigin() {
        func refusal(_ origin: String?) -> Refusal? {
            let headers = [("Host", "localhost:8080")] + (origin.map { [("Origin", $0)] } ?? [])
            return self.refusal(headers, isWebSocket: true)
        }
        #expect(refusal("http://localhost:8080") == nil)
        #expect(refusal("https://localhost:8080") == nil)
        for origin in [
            nil, "null", "http://evil.example", "http://localhost", "http://localhost:8081",
            "http://127.0.0.1:8080",
            "localhost:8080", "file://localhost:8080", "http://localhost:8080.evil.example",
        ] { #expect(refusal(origin) == .otherOrigin, "\(origin ?? "none")") }
    }

    @Test("what another site's page asks for is refused, but a link may open the page")
    func crossSite() {
        let host = ("Host", "localhost:8080")
        #expect(refusal([host, ("Origin", "http://evil.example")]) == .otherOrigin)
        #expect(refusal([host, ("Sec-Fetch-Site", "cross-site")]) == .otherOrigin)
        #expect(refusal([host, ("Sec-Fetch-Site", "same-site")]) == .otherOrigin)
        #expect(refusal([host, ("Sec-Fetch-Site", "same-origin")]) == nil)
        #expect(refusal([host, ("Sec-Fetch-Site", "none")]) == nil)
        let frame = [host, ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")]
        #expect(refusal(frame + [("Sec-Fetch-Dest", "document")]) == nil)
        #expect(refusal(frame + [("Sec-Fetch-Dest", "iframe")]) == .otherOrigin)
    }

    @Test("a frame is for pages of the same site, if any may embed the page")
    func frames() {
        let policy = RequestPolicy(hosts: [], isEmbeddable: true)
        func refusal(_ site: String, _ target: String, mode: String = "navigate") -> Refusal? {
            self.refusal(
                [
                    ("Host", "localhost:8080"), ("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode),
                    ("Sec-Fetch-Dest", target),
                ], by: policy)
        }
        #expect(refusal("same-site", "iframe") == nil)
        #expect(refusal("cross-site", "iframe") == .otherOrigin)
        #expect(refusal("same-site", "iframe", mode: "no-cors") == .otherOrigin)
        for target in ["object", "embed", "script", "image", "empty"] {
            #expect(refusal("same-site", target) == .otherOrigin, "\(target)")
        }
    }

    @Test("only GET and HEAD, without a body")
    func methods() {
        let host = ("Host", "localhost")
        for method in [HTTPMethod.POST, .PUT, .DELETE, .OPTIONS, .TRACE, .CONNECT] {
            #expect(refusal([host], method: method) == .otherMethod)
        }
        #expect(refusal([host], method: .HEAD) == nil)
        #expect(refusal([host, ("Content-Length", "1")]) == .unwantedBody)
        #expect(refusal([host, ("Transfer-Encoding", "chunked")]) == .unwantedBody)
        #expect(refusal([host, ("Content-Length", "0")]) == nil)
    }
}
