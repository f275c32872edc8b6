import Testing

@testable import CamNetworking

/// Where a stream is published.
@Suite struct RTSPAddressTests {
    @Test("a server, a path and nothing else")
    func plain() throws {
        let address = try RTSPAddress("rtsp://camera.local/live/front?key=1")
        #expect(address.server == SocketAddress(host: "camera.local", port: 554))
        #expect(address.user == nil && address.password == nil)
        #expect(address.url == "rtsp://camera.local/live/front?key=1")
        #expect("\(address)" == "rtsp://camera.local/live/front", "a key may be secret")
    }

    @Test("encrypted, with a port of its own")
    func encrypted() throws {
        let address = try RTSPAddress("RTSPS://alice@camera.local/cam")
        #expect(address.isEncrypted && address.server.port == 322 && address.user == "alice")
        #expect(address.url == "rtsps://camera.local/cam")
        #expect(try RTSPAddress("rtsps://h:8322/cam").url == "rtsps://h:8322/cam")
        #expect(
            try RTSPAddress("rtsp://h:322/cam").url == "rtsp://h:322/cam", "the port does not encrypt")
    }

    @Test(
        "user and password, with escapes",
        arguments: [
            ("alice@", "alice", nil), ("alice:secret@", "alice", "secret"), ("alice:@", "alice", nil),
            ("a%40b:p%3Aq%2Fr%C3%A4@", "a@b", "p:q/rä"), ("alice:p@ss@", "alice", "p@ss"),
        ] as [(String, String, String?)])
    func account(written: String, user: String, password: String?) throws {
        let address = try RTSPAddress("RTSP://\(written)[::1]:8554/cam")
        #expect(address.user == user)
        #expect(address.password == password)
        #expect(address.server == SocketAddress(host: "::1", port: 8554))
        #expect("\(address)" == "rtsp://[::1]:8554/cam", "no user and no password in messages")
    }

    @Test(
        "a secret behind the question mark is known by its name",
        arguments: [
            ("/cam?jwt=ey.J", true), ("/cam?user=a&PASS=b", true), ("/cam?token", true),
            ("/cam?channel=1", false),
            ("/pass=1/cam", false), ("/cam", false), ("/cam?", false), ("/cam?a?token=1", false),
        ])
    func secretInQuery(path: String, isSecret: Bool) throws {
        #expect(try RTSPAddress("rtsp://host\(path)").hasSecretInQuery == isSecret)
    }

    @Test(
        "says why anything else is none, without quoting it",
        arguments: [
            ("", .otherScheme), ("http://host/cam", .otherScheme), ("rtsp://", .path), ("rtsp:///cam", .host),
            ("rtsp://host", .path), ("rtsp://host/", .path), ("rtsp://host:0/cam", .port),
            ("rtsp://host:99999/cam", .port), ("rtsp://host:1:2/cam", .port), ("rtsp://[::1/cam", .host),
            ("rtsp://:8554/cam", .host), ("rtsp://@host/cam", .user), ("rtsp://:secret@host/cam", .user),
            ("rtsp://a%zz@host/cam", .user), ("rtsp://a%+f@host/cam", .user), ("rtsp://a%4@host/cam", .user),
            ("rtsp://alice:12/secret@host:9/cam", .atInPath), ("rtsp://a@2/secret@host/c", .atInPath),
            ("rtsp://a:1/x?y@host/c", .atInPath), ("rtsp://a%0d@host/cam", .user),
            ("rtsp://host/a b", .strayCharacter), ("rtsp://host/cam\r\nEvil: 1", .strayCharacter),
            ("rtsp://hö/cam", .strayCharacter), ("rtsp://ho st/cam", .strayCharacter),
        ] as [(String, AddressFlaw)])
    func malformed(text: String, flaw: AddressFlaw) {
        #expect(throws: flaw) { _ = try RTSPAddress(text) }
    }
}
