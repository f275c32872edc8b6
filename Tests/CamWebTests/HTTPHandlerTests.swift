import NIOCore
import NIOEmbedded
import NIOHTTP1
import CamNetworking
import Testing

@testable import CamWeb

@Suite("requests over a connection")
struct HTTPHandlerTests {
    private let channel: EmbeddedChannel

    init() throws { channel = try Self.connection(AccessRules()) }

    private static func connection(
        _ rules: AccessRules, at placement: Placement = Placement()
    ) throws -> EmbeddedChannel {
        let loop = EmbeddedEventLoop()
        let cameras = CameraList(.given([]), on: loop, report: { _ in }) { (camera) throws(NetworkError) in
            throw NetworkError(.badPath, address: camera.name)
        }
        let access = Authenticator(rules, at: placement, on: loop, warn: { _ in })
        let desk = RequestRouter(
            policy: RequestPolicy(hosts: []), placement: placement, cameras: cameras, access: access,
            workers: RecordingWorkers(scratchFolder: "/tmp"), metrics: MetricsCollector(on: loop),
            storage: StorageCollector(on: loop))
        let channel = EmbeddedChannel(
            handler: HTTPHandler(desk, ConnectionLimit(256, idle: 32, on: loop)), loop: loop)
        try channel.connect(to: .init(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    /// What is sent back: the head, and the body.
    private func response(on channel: EmbeddedChannel? = nil) throws -> (
        head: HTTPResponseHead, body: String
    )? {
        let channel = channel ?? self.channel
        guard case .head(let head)? = try channel.readOutbound(as: HTTPServerResponsePart.self) else {
            return nil
        }
        var body = ""
        while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
            guard case .body(.byteBuffer(let buffer)) = part else { break }
            body += String(buffer: buffer)
        }
        return (head, body)
    }

    private func send(
        _ method: HTTPMethod = .GET, _ uri: String, close: Bool = false, on other: EmbeddedChannel? = nil
    ) throws {
        let channel = other ?? channel
        var headers = HTTPHeaders([("Host", "localhost:8080")])
        if close { headers.add(name: "Connection", value: "close") }
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: uri, headers: headers)
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
    }

    @Test("the page, with a policy that allows nothing foreign")
    func page() throws {
        try send(.GET, "/")
        let (head, body) = try #require(try response())
        #expect(head.status == .ok)
        #expect(body.hasPrefix("<!DOCTYPE html>"))
        #expect(head.headers["content-length"] == ["\(body.utf8.count)"])
        let policy = try #require(head.headers["content-security-policy"].first)
        #expect(policy.hasPrefix("default-src 'none'; "))
        #expect(policy.contains("frame-ancestors 'none'"))
        #expect(policy.hasSuffix("connect-src 'self' ws://localhost:8080 wss://localhost:8080"))
        #expect(!policy.contains("unsafe") && !policy.contains("*"))
        #expect(head.headers["x-content-type-options"] == ["nosniff"])
        #expect(head.headers["cross-origin-resource-policy"] == ["same-origin"])
        #expect(channel.isActive)
    }

    @Test("HEAD has the same length and no body")
    func head() throws {
        try send(.HEAD, "/page.css")
        let (head, body) = try #require(try response())
        #expect(body.isEmpty)
        #expect(head.headers["content-length"] == ["\(PageFile.style.bytes.count)"])
    }

    @Test("several requests, until one says that it is the last")
    func several() throws {
        try send(.GET, "/cameras.json")
        #expect(try response()?.body == "[]")
        try send(.GET, "/nothing")
        #expect(try response()?.head.status == .notFound)
        try send(.GET, "/icon.svg", close: true)
        #expect(try response()?.head.headers["connection"] == ["close"])
        #expect(!channel.isActive)
    }

    @Test(
        "a command is refused, unless somebody said that the page may change something",
        arguments: [false, true])
    func command(isAllowed: Bool) throws {
        var rules = AccessRules()
        rules.allowsChanges = isAllowed
        let channel = try Self.connection(rules)
        let head = HTTPRequestHead(
            version: .http1_1, method: .POST, uri: "/cameras/door/command",
            headers: [
                "Host": "localhost:8080", "Origin": "http://localhost:8080",
                "Content-Type": "application/x-www-form-urlencoded",
            ])
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "command=pause")))
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        let (answer, body) = try #require(try response(on: channel))
        // There is no such camera.
        #expect(answer.status == (isAllowed ? .notFound : .forbidden))
        #expect(body.contains("--allow-changes") != isAllowed)
    }

    @Test("under a base, everything is there and nothing elsewhere")
    func base() throws {
        var placement = Placement()
        placement.base = try #require(BasePath("/a/cams/"))
        let channel = try Self.connection(AccessRules(), at: placement)
        func answer(_ path: String) throws -> HTTPResponseHead? {
            try send(.GET, path, on: channel)
            return try response(on: channel)?.head
        }
        for path in ["/a/cams/", "/a/cams/page.css", "/a/cams/cameras.json", "/a/cams/manifest.webmanifest"] {
            #expect(try answer(path)?.status == .ok, "\(path)")
        }
        for path in ["/a/cams", "/a/cams?x", "/a/cams/login", "/a/cams/logout"] {
            #expect(try answer(path)?.headers["location"] == ["/a/cams/"], "\(path)")
        }
        for path in [
            "/", "/page.css", "/cameras.json", "/a/", "/a/camsx/", "/a/cams//", "/a/Cams/", "/a/%63ams/", "*",
            "/a/cams/../cams/", "//a/cams/",
        ] { #expect(try answer(path)?.status == .notFound, "\(path)") }
    }

    @Test("only the page can be embedded, and only by pages of the given origins")
    func ancestors() throws {
        var placement = Placement()
        placement.ancestors = [
            try #require(FrameAncestor("self")), try #require(FrameAncestor("https://home.example.org")),
        ]
        let channel = try Self.connection(AccessRules(), at: placement)
        func policy(_ path: String) throws -> String {
            try send(.GET, path, on: channel)
            let headers = try #require(try response(on: channel)).head.headers
            #expect(headers["x-frame-options"].isEmpty)
            return try #require(headers["content-security-policy"].first)
        }
        #expect(try policy("/").contains("; frame-ancestors 'self' https://home.example.org; "))
        #expect(try policy("/cameras.json").contains("; frame-ancestors 'none'; "))
        #expect(try policy("/nothing").contains("; frame-ancestors 'none'; "))
    }

    @Test("the manifest of the web app, which a stranger gets, too")
    func manifest() throws {
        var rules = AccessRules()
        rules.passwords = PasswordFile()
        let channel = try Self.connection(rules)
        try send(.GET, "/manifest.webmanifest", on: channel)
        let (head, body) = try #require(try response(on: channel))
        #expect(head.status == .ok && head.headers["content-type"] == ["application/manifest+json"])
        #expect(body.contains("\"start_url\": \"./\"") && body.contains("\"display\": \"standalone\""))
    }

    @Test("a body is refused, and its connection closed")
    func body() throws {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Host": "localhost"])
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "x")))
        #expect(try response()?.head.status == .payloadTooLarge)
        #expect(!channel.isActive)
    }

    @Test("a connection without any request is closed")
    func silent() {
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("a connection is closed when no request has ended for a while")
    func idle() throws {
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        try send(.GET, "/")
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(channel.isActive)
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Host": "localhost"])
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }
}
