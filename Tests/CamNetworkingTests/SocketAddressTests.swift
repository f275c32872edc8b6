import Testing

@testable import CamNetworking

/// Hosts and ports as people write them.
@Suite struct SocketAddressTests {
    @Test(
        "missing parts have defaults",
        arguments: [
            ("9982", "127.0.0.1", 9982), ("1", "127.0.0.1", 1), ("0", "127.0.0.1", 0),
            ("0.0.0.0:80", "0.0.0.0", 80), ("camera.local", "camera.local", 9982),
            ("camera-2:65535", "camera-2", 65535), ("[::]:9982", "::", 9982), ("[::1]", "::1", 9982),
            ("[fe80::1%eth0]:9000", "fe80::1%eth0", 9000), ("[fe80::1%25eth0]:9000", "fe80::1%eth0", 9000),
        ])
    func accepted(text: String, host: String, port: UInt16) {
        #expect(SocketAddress(text) == SocketAddress(host: host, port: port))
        #expect(SocketAddress(url: "tcp://\(text)", scheme: "tcp") == SocketAddress(host: host, port: port))
        #expect(SocketAddress(url: "tcp://\(text)/", scheme: "tcp") == SocketAddress(host: host, port: port))
    }

    @Test(
        "refuses anything else",
        arguments: [
            "", ":", ":9982", "65536", "99999999999999999999", "host:", "host:port", "host:-1", "host:+1",
            "host:1:2", "::1", "[::1", "[::1]9982", "[]:9982", "a b:1", "a/b:1", "user@host:1", "host:1?x",
            "é",
            "host:1\n", "host\u{0}:1",
        ])
    func refused(text: String) {
        #expect(SocketAddress(text) == nil)
        #expect(SocketAddress(url: "tcp://\(text)", scheme: "tcp") == nil)
    }

    @Test("another scheme is not an address")
    func schemes() {
        #expect(SocketAddress(url: "udp://host:1", scheme: "tcp") == nil)
        #expect(SocketAddress(url: "host:1", scheme: "tcp") == nil)
    }

    @Test("prints an address as it is written", arguments: ["127.0.0.1:9982", "[::1]:80", "camera:1"])
    func description(text: String) {
        #expect(SocketAddress(text)?.description == text)
    }
}
