import Glibc
import NIOCore
import TestSupport
import Testing

@testable import CamWeb

@Suite("connections that last long", .hangGuard)
struct LongConnectionTests {
    private let folder = TemporaryFolder()

    /// What the system waits for an acknowledgement on the server's end of a connection, in milliseconds; nil if the
    /// connection is closed.
    private func acknowledgementTimeout(of client: any Channel, at port: Int) -> Int32? {
        let descriptor = (0..<Int32(1024)).first {
            self.port($0, getsockname) == port && self.port($0, getpeername) == client.localAddress?.port
        }
        var (timeout, length) = (Int32(-1), socklen_t(4))
        guard let descriptor,
            getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &timeout, &length) == 0
        else { return nil }
        return timeout
    }

    private func port(
        _ descriptor: Int32,
        _ name: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
    ) -> Int? {
        var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(descriptor, $0, &length) }
        }
        return result == 0 && address.sin_family == AF_INET ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }

    @Test(
        "a client's WebSockets leave half of the connections to others; this machine has no limit of its own")
    func webSockets() async throws {
        var rules = AccessRules()
        rules.isBehindProxy = true
        let camera = try #require(Camera("door=unix:\(folder.path("live"))"))
        let server = try RunningServer(.given([camera]), access: rules)
        func watch(from client: String?) async throws -> (channel: any Channel, counts: ClientDouble.Counts) {
            let named = client.map { "X-Forwarded-For: \($0)\r\nOrigin:" } ?? "Origin:"
            let request = ClientDouble.watch("door", server.port).replacing("Origin:", with: named)
            let viewer = try await ClientDouble.connect(to: server.port, request)
            #expect(eventually { viewer.counts.text.contains("\r\n\r\n") })
            return viewer
        }
        var viewers: [(channel: any Channel, counts: ClientDouble.Counts)] = []
        for _ in 0..<128 { viewers.append(try await watch(from: "192.0.2.1")) }
        #expect(viewers.allSatisfy { $0.counts.text.contains(" 101 ") })
        let late = try await watch(from: "192.0.2.1")
        #expect(late.counts.text.contains(" 503 "))
        for client in ["192.0.2.2", nil] {
            let other = try await watch(from: client)
            #expect(other.counts.text.contains(" 101 "))
            viewers.append(other)
        }
        for viewer in viewers + [late] { viewer.channel.close(promise: nil) }
    }

    private func request(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" }

    @Test(
        "while a recording is sent, the system cuts off no reader for a small window"
    )
    func window() async throws {
        folder.write("a.h264", try EncodedStream().bytes)
        var camera = try #require(Camera("door=unix:\(folder.path("live"))"))
        camera.recordings = RecordingsPlace(folder: folder.path)
        let server = try RunningServer(.given([camera]))
        var id: Substring?
        while id == nil {
            let list = try await ClientDouble.connect(
                to: server.port, request("/recordings/door.json?from=0&to=4000000000000000"))
            #expect(eventually { list.counts.text.contains("}]") || list.counts.text.contains("[]") })
            id = list.counts.text.firstMatch(of: /"id":"(\d+)"/)?.1
            list.channel.close(promise: nil)
        }
        let reader = try await ClientDouble.connect(
            to: server.port, request("/recordings/door/\(try #require(id))"))
        #expect(eventually { reader.counts.text.contains("200 OK") })
        #expect(acknowledgementTimeout(of: reader.channel, at: server.port) == 0)
        // One who sends another request has read what came before; a dead connection is then found soon.
        try await reader.channel.writeAndFlush(ByteBuffer(string: request("/page.css")))
        #expect(eventually { reader.counts.text.contains("text/css") })
        #expect(acknowledgementTimeout(of: reader.channel, at: server.port) == 20_000)
        reader.channel.close(promise: nil)
    }
}
