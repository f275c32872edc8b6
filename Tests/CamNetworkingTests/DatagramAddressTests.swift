import Glibc
import Testing
import CamPlatform

@testable import CamNetworking

/// What a service reports to its manager, by the protocol of sd_notify(3).
@Suite struct DatagramAddressTests {
    /// A datagram socket that stands in for the manager.
    private final class Manager {
        let descriptor: Int32

        init?(_ address: ResolvedAddress?) {
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            guard let address, address.withSocketAddress({ bind(descriptor, $0, $1) }) == 0 else {
                return nil
            }
        }

        deinit { close(descriptor) }

        func receive() -> String {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
    }

    @Test("a message is one datagram, to a path")
    func path() throws {
        let path = "/tmp/camrec-notify-\(getpid())"
        defer { unlink(path) }
        let manager = try #require(Manager(ResolvedAddress(path: path)))
        try #require(DatagramAddress(path)).send("READY=1\nSTATUS=recording", patience: .zero)
        #expect(manager.receive() == "READY=1\nSTATUS=recording")
    }

    @Test("an abstract name begins with @")
    func abstractName() throws {
        let name = "camrec/notify/\(getpid())"
        let manager = try #require(Manager(ResolvedAddress(abstractName: name)))
        try #require(DatagramAddress("@\(name)")).send("WATCHDOG=1", patience: .zero)
        #expect(manager.receive() == "WATCHDOG=1")
    }

    @Test("waits for room in a full queue")
    func busy() throws {
        let path = "/tmp/camrec-busy-\(getpid())"
        defer { unlink(path) }
        let manager = try #require(Manager(ResolvedAddress(path: path)))
        // A wait for a notice that never comes ends.
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(
            manager.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let address = try #require(ResolvedAddress(path: path))
        let other = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        defer { close(other) }
        #expect(address.withSocketAddress { connect(other, $0, $1) } == 0)
        while send(other, "x", 1, 0) == 1 {}
        #expect(errno == EAGAIN)
        let destination = try #require(DatagramAddress(path))
        let sending = WorkerThread { destination.send("WATCHDOG=1", patience: .seconds(60)) }
        // Time to find the queue full; if that is not enough, the notice finds room.
        usleep(50_000)
        var byte: UInt8 = 0
        while recv(manager.descriptor, &byte, 1, 0) == 1, byte != UInt8(ascii: "W") {}
        #expect(byte == UInt8(ascii: "W"))
        sending?.join()
    }

    @Test("a missing receiver is not an error")
    func nobody() throws {
        try #require(DatagramAddress("/tmp/camrec-nobody-\(getpid())")).send("READY=1", patience: .zero)
    }

    @Test(
        "ignores an invalid address",
        arguments: ["", "@", "relative", "vsock:2:9999", "/" + String(repeating: "x", count: 200)])
    func noAddress(address: String) {
        #expect(DatagramAddress(address) == nil)
    }
}
