import Glibc
import Testing

@testable import camrec

/// What a service tells its manager, by the protocol of sd_notify(3).
@Suite struct ServiceManagerTests {
    @Test("assignments are one message, one per line")
    func assignments() throws {
        let path = "/tmp/camrec-manager-\(getpid())"
        defer { unlink(path) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isBound = withUnsafeBytes(of: &address) {
            bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, length) == 0
        }
        try #require(isBound)
        try #require(ServiceManager(address: path)).notify("READY=1", "STATUS=recording")
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "READY=1\nSTATUS=recording")
    }

    @Test("a value that is not a socket's address is ignored", arguments: ["", "relative", "vsock:2:9999"])
    func noAddress(address: String) {
        #expect(ServiceManager(address: address) == nil)
    }
}
