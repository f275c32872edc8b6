import Glibc
import Synchronization
import TestSupport
import Testing
import CamPlatform

@testable import CamNetworking

/// The conversation with a server, which a test writes.
@Suite(.hangGuard) struct RTSPPublicationTests {
    private let server: ScriptedServer

    init() throws { server = try ScriptedServer() }

    /// Publishes, and hands the connection to `body`.
    private func publish(
        _ account: String = "", password: String? = nil, path: String = "/cam",
        timeout: Duration = .seconds(20),
        cancellation: CancellationFlag = CancellationFlag()!,
        _ body: (borrowing RTSPPublication) -> Void = { _ in }
    ) throws {
        let address = try RTSPAddress("rtsp://\(account)\(server.address)\(path)")
        let publication = try RTSPPublication(
            to: address, description: "v=0\r\n", controls: ["streamid=0"], password: password, trust: nil,
            timeout: timeout, patience: .seconds(10), cancellation: cancellation)
        body(publication)
    }

    private func failure(
        _ answers: [String], account: String = "", password: String? = nil, path: String = "/cam"
    ) -> NetworkError.Kind? {
        server.answers(answers)
        do { try publish(account, password: password, path: path) } catch {
            return (error as? NetworkError)?.kind
        }
        return nil
    }

    private static let session =
        "Session: 7f;timeout=60\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n"

    @Test("announces, sets up and records, and knows how to end")
    func agrees() throws {
        server.answers(["200 OK", "200 OK\r\n\(Self.session)", "200 OK"])
        var farewell = ""
        try publish { farewell = String(decoding: $0.farewell, as: UTF8.self) }
        let url = "rtsp://\(server.address)/cam"
        let requests = server.requests
        let lines = requests.map { String($0.prefix { $0 != "\r\n" }) }
        #expect(
            lines == [
                "ANNOUNCE \(url) RTSP/1.0", "SETUP \(url)/streamid=0 RTSP/1.0", "RECORD \(url) RTSP/1.0",
            ])
        #expect(requests[0].hasSuffix("Content-Type: application/sdp\r\nContent-Length: 5\r\n\r\nv=0\r\n"))
        #expect(requests[1].contains("Transport: RTP/AVP/TCP;unicast;interleaved=0-1;mode=record\r\n"))
        #expect(requests[2].contains("Session: 7f\r\n"))
        #expect(
            farewell == "TEARDOWN \(url) RTSP/1.0\r\nCSeq: 4\r\nUser-Agent: camrec\r\nSession: 7f\r\n\r\n")
    }

    @Test("gives the password only to a server that asks for it, and then with every request")
    func password() throws {
        let challenge = "401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n"
        server.answers([challenge, "200 OK", "200 OK\r\n\(Self.session)", "200 OK"])
        try publish("alice@", password: "secret")
        let hasProof = server.requests.map { $0.contains("Authorization: Digest username=\"alice\"") }
        #expect(hasProof == [false, true, true, true])
        #expect(!server.requests.joined().contains("secret"))
    }

    @Test("a server that forgets its nonce is proved again")
    func stale() throws {
        let first = "401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"1\"\r\n"
        let second = "401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"2\", stale=true\r\n"
        server.answers([first, "200 OK", second, "200 OK\r\n\(Self.session)", "200 OK"])
        try publish("alice@", password: "secret")
        #expect(server.requests.last?.contains("nonce=\"2\"") == true)
    }

    @Test("says why the server does not take the stream")
    func refusals() {
        let challenge = "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"r\"\r\n"
        #expect(failure([challenge]) == .needsPassword)
        #expect(failure([challenge], account: "alice@") == .needsPassword)
        #expect(failure([challenge, challenge], account: "alice@", password: "x") == .wrongPassword)
        #expect(failure(["404 Not Found"]) == .refused(status: 404, reason: "Not Found"))
        #expect(
            failure(["200 OK", "461 Unsupported\u{7} Transport"])
                == .refused(status: 461, reason: "Unsupported Transport"))
        #expect(
            failure(["403 rtsp://alice:secret@h/ may not"], account: "alice@", password: "secret")
                == .refused(status: 403, reason: ""))
        let proof = Array("alice:secret".utf8).base64
        #expect(
            failure([challenge, "403 Basic \(proof)"], account: "alice@", password: "secret")
                == .refused(status: 403, reason: ""))
        #expect(failure(["403 no jwt=abc here"], path: "/cam?jwt=abc") == .refused(status: 403, reason: ""))
        #expect(
            NetworkError(.refused(status: 500, reason: ""), address: "a").description
                == "a: the server refuses the stream: 500; check its settings and its log")
        #expect(failure([]) == .closedByServer)
        #expect(failure(["200 OK"]) == .closedByServer)
    }

    @Test("trusts no answer")
    func hostile() {
        #expect(failure(["200 OK", "200 OK"]) == .noSession)
        #expect(
            failure(["200 OK", "200 OK\r\nSession: 7\r\nTransport: RTP/AVP;unicast;client_port=1-2\r\n"])
                == .otherTransport)
        #expect(
            failure(["200 OK", "200 OK\r\nSession: 7\r\nTransport: RTP/AVP/TCP;interleaved=2-3\r\n"])
                == .otherTransport)
        #expect(failure(["200 OK\r\nContent-Length: 99999999999\r\n"]) == .notRTSP)
        #expect(failure(["200 OK\r\nContent-Length: -1\r\n"]) == .notRTSP)
        #expect(failure(["9 OK"]) == .notRTSP)
        server.says("HTTP/1.1 400 Bad Request\r\n\r\n")
        #expect(throws: NetworkError.self) { try publish() }
        server.says("RTSP/1.0 200 OK\r\nCSeq: 1\r\nX: " + String(repeating: "x", count: 100_000))
        #expect(throws: NetworkError.self) { try publish() }
    }

    @Test(
        "reads answers in any pieces, with bare line feeds and bodies, and passes over those to something else"
    )
    func pieces() throws {
        server.pieceLength = 1
        server.answers(
            ["200 OK\r\nContent-Length: 3\r\n\r\nabc", "200 OK\r\n\(Self.session)", "200 OK"],
            precededBy: "RTSP/1.0 200 OK\nCSeq: 77\n\n")
        try publish()
        #expect(server.requests.count == 3)
    }

    @Test("passes over packets, requests and provisional responses before an answer")
    func interleaved() throws {
        let noise =
            "$\u{1}\u{0}\u{2}xxRTSP/1.0 100 Continue\r\nCSeq: 1\r\n\r\nGET_PARAMETER * RTSP/1.0\r\nCSeq: 9\r\nContent-Length: 4\r\n\r\n\r\n\r\n"
        server.answers(["200 OK", "200 OK\r\n\(Self.session)", "200 OK"], precededBy: noise)
        try publish()
        #expect(server.requests.count == 3)
    }

    @Test("tells a server that speaks another protocol from a silent one, even if it never ends a line")
    func otherProtocol() {
        func failure(_ words: String) -> NetworkError.Kind? {
            server.says(words)
            do { try publish(timeout: .milliseconds(200)) } catch { return (error as? NetworkError)?.kind }
            return nil
        }
        #expect(failure("220 mail.local ESMTP") == .notRTSP)
        #expect(failure("RTS") == .timedOut(after: .milliseconds(200)))
        #expect(failure("") == .timedOut(after: .milliseconds(200)))
    }

    @Test("a server that says nothing is given up when interrupted")
    func silent() throws {
        server.says("")
        let cancellation = try #require(CancellationFlag())
        server.whenAsked { cancellation.raise() }
        #expect(throws: NetworkError(.interrupted, address: "rtsp://\(server.address)/cam")) {
            try publish(cancellation: cancellation)
        }
    }
}
