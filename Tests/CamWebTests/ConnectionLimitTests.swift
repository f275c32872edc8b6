import NIOCore
import NIOEmbedded
import Testing

@testable import CamWeb

@Suite("the number of connections")
struct ConnectionLimitTests {
    private let loop = EmbeddedEventLoop()

    private func connect(_ limit: ConnectionLimit, from address: String) throws -> EmbeddedChannel? {
        let channel = EmbeddedChannel(loop: loop)
        channel.remoteAddress = try NIOCore.SocketAddress(ipAddress: address, port: 1)
        try channel.connect(to: NIOCore.SocketAddress(ipAddress: address, port: 1)).wait()
        guard limit.admit(channel) else { return nil }
        return channel
    }

    @Test("of an address's idle connections, the oldest makes way for one too many")
    func idle() throws {
        let limit = ConnectionLimit(100, idle: 3, on: loop)
        let other = try #require(try connect(limit, from: "192.0.2.2"))
        let own = try (0..<5).map { _ in try #require(try connect(limit, from: "192.0.2.1")) }
        #expect(own.map(\.isActive) == [false, false, true, true, true])
        #expect(other.isActive)
        // One that is being answered is not idle.
        limit.noteBusy(own[2])
        let late = try #require(try connect(limit, from: "192.0.2.1"))
        #expect(own[2].isActive && own[3].isActive && late.isActive)
        limit.noteIdle(own[2])
        #expect(own[2].isActive && !own[3].isActive)
    }

    @Test(
        "a client gets live pictures and recordings on so many connections; this machine and proxies have no limit"
    )
    func streams() throws {
        let limit = ConnectionLimit(100, idle: nil, streams: 2, on: loop)
        // They all come from a proxy.
        let channels = try (0..<6).map { _ in try #require(try connect(limit, from: "192.0.2.100")) }
        let (client, other) = (ClientAddress("192.0.2.1"), ClientAddress("192.0.2.2"))
        #expect(limit.admitStream(channels[0], to: client) && limit.admitStream(channels[1], to: client))
        #expect(!limit.hasRoom(for: client) && !limit.admitStream(channels[2], to: client))
        #expect(limit.admitStream(channels[3], to: other) && limit.admitStream(channels[4], to: nil))
        // The next response on the same connection is not another one.
        #expect(limit.admitStream(channels[1], to: client))
        limit.noteIdle(channels[0])
        #expect(limit.admitStream(channels[2], to: client) && !limit.hasRoom(for: client))
        try channels[1].close().wait()
        loop.run()
        #expect(limit.admitStream(channels[5], to: client))
    }

    @Test("a full server closes an idle connection of the address that has most; without one it refuses")
    func full() throws {
        let limit = ConnectionLimit(4, idle: nil, on: loop)
        let greedy = try (0..<3).map { _ in try #require(try connect(limit, from: "192.0.2.1")) }
        let first = try #require(try connect(limit, from: "192.0.2.2"))
        let second = try #require(try connect(limit, from: "192.0.2.3"))
        #expect(greedy.map(\.isActive) == [false, true, true])
        for channel in greedy + [first, second] { limit.noteBusy(channel) }
        #expect(try connect(limit, from: "192.0.2.4") == nil)
        try first.close().wait()
        loop.run()
        #expect(try connect(limit, from: "192.0.2.4") != nil)
    }
}
