import Glibc
import Testing

@testable import CamNetworking

/// Where receivers connect.
@Suite struct ListeningAddressTests {
    @Test("a path is a socket for its owner, or for those its mode allows")
    func paths() {
        #expect(ListeningAddress("unix:/run/live") == .path("/run/live", mode: 0o600))
        #expect(ListeningAddress("unix:live,mode=660") == .path("live", mode: 0o660))
        #expect(ListeningAddress("unix:/run/live")?.description == "unix:/run/live")
    }

    @Test("everything else is a host and a port")
    func hosts() {
        #expect(ListeningAddress("9982") == .tcp(SocketAddress(port: 9982)))
        #expect(ListeningAddress("unix:9982") == .tcp(SocketAddress(host: "unix", port: 9982)))
    }

    @Test(
        "refuses anything else",
        arguments: [
            "", "unix:", "unix:x,mode=", "unix:x,mode=9", "unix:x,mode=1777", "unix:x,mode=044",
            "unix:x,mode=600,mode=600", "unix:sk,mdoe=660", "unix:a,unix:b", "unix:a,9982", "unix:a,",
            "unix:@abs",
            "9982,9983", "unix:a,b,mode=660",
        ])
    func refused(text: String) { #expect(ListeningAddress(text) == nil) }

    @Test(
        "answers a mistaken socket path with what to write",
        arguments: [
            ("unix:sk,mdoe=660", "only a mode may follow it; write unix:sk,mode=660"),
            ("unix:a,9982", "a path has no comma"), ("unix:@abs", "write unix:./@abs"),
            ("unix:", "the path is missing; write unix:PATH"), ("unix:x,mode=9", "octal"),
            ("unix:x,mode=044", "octal and must let the owner write; write unix:x,mode=660"),
        ])
    func complaints(text: String, part: String) throws {
        #expect(try #require(ListeningAddress.complaint(about: text)).contains(part))
    }

    @Test(
        "accepts other texts without advice",
        arguments: ["9982,9983", "", "unix:/run/live", "unix:9982", "host"])
    func noComplaint(text: String) { #expect(ListeningAddress.complaint(about: text) == nil) }

    @Test(
        "recognises this machine by its numbers, its usual name and a path",
        arguments: [
            ("9982", true), ("127.1.2.3:1", true), ("localhost:1", true), ("LOCALHOST", true),
            ("[::1]:1", true),
            ("unix:/run/live", true), ("0.0.0.0:1", false), ("[::]:1", false), ("192.168.1.2:1", false),
            ("camera:1", false),
        ])
    func loopback(text: String, isLoopback: Bool) throws {
        #expect(try #require(ListeningAddress(text)).isLoopback == isLoopback)
    }

    @Test("refuses a path that no socket can have before creating one")
    func longPath() {
        let path = String(repeating: "x", count: 107)
        #expect(throws: Never.self) { try PathListener.refuseUnusable(path) }
        #expect(throws: NetworkError(.badPath, address: path + "x")) {
            try PathListener.refuseUnusable(path + "x")
        }
        #expect(throws: NetworkError(.badPath, address: "")) { try PathListener.refuseUnusable("") }
    }

    @Test("a socket has the requested mode, whatever the umask")
    func mode() throws {
        let path = "/tmp/camrec-mode-\(getpid())"
        let mask = umask(0o077)
        defer { umask(mask) }
        for mode: mode_t in [0o600, 0o660, 0o666] {
            let listener = try PathListener(path: path, mode: mode)
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == mode)
            #expect(listener.path == path)
        }
        #expect(umask(0o077) == 0o077)
    }

    @Test("counts connections from one address together, except this machine's")
    func origins() throws {
        func origin(_ host: String) throws -> UInt64? {
            let address = SocketAddress(host: host, port: 1)
            return try ResolvedAddress.addresses(of: address, isListening: false, isNumeric: true)[0].origin
        }
        for host in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] { #expect(try origin(host) == nil) }
        #expect(try origin("10.1.2.3") == 0x0a01_0203)
        #expect(try origin("::ffff:10.1.2.3") == 0x0a01_0203)
        #expect(try origin("10.1.2.4") != origin("10.1.2.3"))
        #expect(try origin("2001:db8::1") == origin("2001:db8::2:3"))
        #expect(try origin("2001:db8:0:1::1") != origin("2001:db8::1"))
        #expect(ResolvedAddress(path: "/x")?.origin == nil)
    }
}
