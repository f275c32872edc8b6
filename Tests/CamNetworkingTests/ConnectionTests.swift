import Glibc
import TestSupport
import Testing
import CamPlatform

@testable import CamNetworking

/// Sockets that listen and connect, on this machine's loopback.
@Suite(.hangGuard) struct ConnectionTests {
    private let loopback = SocketAddress(port: 0)
    private let patience = Duration.seconds(5)

    private func failure(_ body: () throws(NetworkError) -> Void) -> NetworkError.Kind? {
        do throws(NetworkError) {
            try body()
            return nil
        } catch { return error.kind }
    }

    /// The port of an address that was chosen by the system.
    private func port(_ address: ResolvedAddress) throws -> UInt16 {
        try #require(SocketAddress(address.description)).port
    }

    @Test("bytes go both ways, and the end is noticed", arguments: ["127.0.0.1", "::1"])
    func bothWays(host: String) throws {
        let listener = try Listener(SocketAddress(host: host, port: 0))
        let address = listener.address
        #expect(address.isLoopback)
        guard case .noneWaiting = listener.accept() else {
            Issue.record("somebody is there")
            return
        }
        let client = try Socket.connect(
            to: SocketAddress(host: host, port: port(listener.address)), timeout: patience)
        guard case .connection(let server, let peer) = listener.accept() else {
            Issue.record("nobody came")
            return
        }
        #expect(peer.isLoopback)
        #expect(peer.description != address.description)
        let before = server.receives(16)
        #expect(before == .nothing)
        let sent = client.sends([1, 2, 3])
        #expect(sent == .sent(3))
        var isReadable = server.waitUntilReadable(until: Instant.now + patience)
        #expect(isReadable)
        let first = server.receives(2)
        #expect(first == .received(2))
        let second = server.receives(2)
        #expect(second == .received(1))
        server.shutDownWriting()
        isReadable = client.waitUntilReadable(until: Instant.now + patience)
        #expect(isReadable)
        let end = client.receives(1)
        #expect(end == .ended)
        let backwards = client.sends([1])
        #expect(backwards == .sent(1))
    }

    @Test(
        "a listener on all addresses takes IPv4 connections",
        .enabled(if: access("/proc/net/if_inet6", R_OK) == 0))
    func everyAddress() throws {
        let listener = try Listener(SocketAddress(host: "::", port: 0))
        let client = try Socket.connect(
            to: SocketAddress(host: "127.0.0.1", port: port(listener.address)), timeout: patience)
        guard case .connection(_, let peer) = listener.accept() else {
            Issue.record("nobody came")
            return
        }
        #expect(peer.isLoopback)
        let sent = client.sends([1])
        #expect(sent == .sent(1))
    }

    @Test("a live connection neither waits nor hides seconds, and notices a departed peer")
    func streamingOptions() throws {
        let listener = try Listener(loopback)
        let client = try Socket.connect(
            to: SocketAddress(port: port(listener.address)), timeout: patience)
        client.prepareForStreaming(patience: .seconds(10))
        func option(_ level: Int32, _ name: Int32) -> Int32 {
            var (value, length) = (Int32(-1), socklen_t(MemoryLayout<Int32>.size))
            getsockopt(client.descriptor, level, name, &value, &length)
            return value
        }
        #expect(option(Int32(IPPROTO_TCP), TCP_NODELAY) == 1)
        #expect(option(Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT) == 128 << 10)
        #expect(option(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT) == 11_000)
        #expect(option(SOL_SOCKET, SO_KEEPALIVE) == 1)
    }

    @Test("knows what the peer's system has not confirmed")
    func unconfirmed() throws {
        let listener = try Listener(loopback)
        let client = try Socket.connect(
            to: SocketAddress(port: port(listener.address)), timeout: patience)
        #expect(client.unconfirmedByteCount == 0)
        let bytes = [UInt8](repeating: 7, count: 1 << 16)
        // Nobody reads: the peer's system accepts some, and the rest stays here.
        while case .sent = client.sends(bytes) {}
        #expect(client.unconfirmedByteCount > 0)
    }

    @Test("a full peer accepts nothing, and a departed one is an error without a signal")
    func fullAndGone() throws {
        let pair = try SocketPair()
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        var sent = 0
        while case .sent(let count) = pair.near.sends(bytes) { sent += count }
        #expect(sent > 0)
        let more = pair.near.sends(bytes)
        #expect(more == .full)
        let near = pair.near
        _ = consume pair.far
        let last = near.sends(bytes)
        #expect(last == .broken(errno: EPIPE))
    }

    @Test("refuses a port in use, an address of another machine, and an unknown host")
    func refusals() throws {
        let listener = try Listener(loopback)
        let taken = try SocketAddress(port: port(listener.address))
        #expect(
            failure { () throws(NetworkError) in _ = try Listener(taken) } == .notListening(errno: EADDRINUSE)
        )
        // TEST-NET-1 (RFC 5737) belongs to nobody.
        let elsewhere = SocketAddress(host: "192.0.2.1", port: 0)
        #expect(
            failure { () throws(NetworkError) in _ = try Listener(elsewhere) }
                == .notListening(errno: EADDRNOTAVAIL))
        let nowhere = failure { () throws(NetworkError) in
            _ = try Listener(SocketAddress(host: "no..host", port: 0))
        }
        guard case .unknownHost? = nowhere else {
            Issue.record("\(String(describing: nowhere))")
            return
        }
    }

    @Test("refuses a connection to a port without a listener at once")
    func connectionRefused() throws {
        let free: SocketAddress
        do {
            let listener = try Listener(loopback)
            free = try SocketAddress(port: port(listener.address))
        }
        #expect(
            failure { () throws(NetworkError) in _ = try Socket.connect(to: free, timeout: patience) }
                == .notConnected(errno: ECONNREFUSED))
    }

    @Test("a port is free once its listener has ended, whatever its connections do")
    func portAgain() throws {
        let address: SocketAddress
        do {
            let listener = try Listener(loopback)
            address = try SocketAddress(port: port(listener.address))
            let client = try Socket.connect(to: address, timeout: patience)
            _ = listener.accept()
            _ = consume client
        }
        _ = try Listener(address)
    }

    @Test("a poller reports each ready descriptor once")
    func polling() throws {
        let poller = try Poller()
        let pair = try SocketPair()
        let isWatched = poller.watch(pair.near.descriptor, for: [.readable, .writable], token: 7)
        #expect(isWatched)
        var seen: [Poller.Readiness] = []
        func poll() {
            poller.wait(until: .distantPast) { token, readiness in
                #expect(token == 7)
                seen.append(readiness)
            }
        }
        poll()
        #expect(seen == [.writable])
        poll()
        #expect(seen == [.writable])
        _ = pair.far.sends([1])
        poll()
        #expect(seen.last?.contains(.readable) == true)
        let near = pair.near
        _ = consume pair.far
        poll()
        #expect(seen.last?.isDisjoint(with: .hungUp) == false)
        poller.forget(near.descriptor)
    }

    @Test("a wake-up ends a wait, and counts once")
    func wakeUp() throws {
        let poller = try Poller()
        let wakeUp = try EventFD()
        let isWatched = poller.watch(wakeUp.descriptor, for: .readable, token: 1)
        #expect(isWatched)
        wakeUp.wake()
        wakeUp.wake()
        var count = 0
        poller.wait(until: nil) { _, _ in count += 1 }
        wakeUp.sleep()
        poller.wait(until: .distantPast) { _, _ in count += 1 }
        #expect(count == 1)
    }
}

// `#expect` does not accept noncopyable values, so results are evaluated outside it.
extension Socket {
    func sends(_ bytes: [UInt8]) -> Sending { bytes.withUnsafeBytes { send($0) } }

    /// Room for at least one byte.
    func receives(_ count: Int) -> Receiving {
        var room = [UInt8](repeating: 0, count: count)
        return room.withUnsafeMutableBytes { receive(into: $0) }
    }
}
