import Glibc
import Testing

@testable import Network

/// Where receivers connect to.
@Suite struct ListeningAddressTests {
    @Test("a path is a socket for its owner, or for whom its mode says")
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
        "what is neither is refused",
        arguments: [
            "", "unix:", "unix:x,mode=", "unix:x,mode=9", "unix:x,mode=1777", "unix:x,mode=044",
            "unix:x,mode=600,mode=600",
        ])
    func refused(text: String) { #expect(ListeningAddress(text) == nil) }

    @Test("a socket has the mode that was asked for, whatever the process keeps from its files")
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

    @Test("connections of one address count together, those of this machine do not")
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
