import CamNetworking
import CamPlatform
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Synchronization

/// Serves the page and the live streams to browsers. One thread serves all connections, and each camera has a
/// thread for its recorder.
public final class WebServer: Sendable {
    /// The address on which it listens, with the port that the system chose if none was given.
    public let address: String
    private let group: MultiThreadedEventLoopGroup
    private let interruption: Interruption
    private let access: AccessDesk
    private let metrics: MetricsDesk

    /// The most connections at a time.
    private static let mostConnections = 256
    /// The most connections waiting to be accepted.
    private static let backlog: Int32 = 128

    /// Starts listening.
    /// - Parameters:
    ///   - access: who may use the server.
    ///   - hosts: host names under which a reverse proxy serves the page, besides those of this machine.
    ///   - scratchFolder: where downloads are made, in files without names.
    ///   - interruption: ends the server.
    ///   - report: called with lines for the operator, on any thread.
    public init(
        on address: CamNetworking.SocketAddress, cameras source: CameraSource, access rules: AccessRules,
        hosts: [String], scratchFolder: String, interruption: Interruption,
        report: @escaping @Sendable (String) -> Void
    ) throws(WebError) {
        guard address.isLoopback || rules.passwords != nil && rules.isBehindProxy else {
            throw .notLoopback(address)
        }
        if case .given(let cameras) = source { try Self.refuseSameNames(cameras) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let access = AccessDesk(rules, on: loop, report: report)
        let metrics = MetricsDesk(on: loop)
        do throws(NetworkError) {
            let cameras = CameraList(source, on: loop, report: report) { (camera) throws(NetworkError) in
                try CameraFeed(camera, on: loop, interruption: interruption, report: report)
            }
            loop.execute { cameras.refresh() }
            let own = address.host.contains(":") ? "[\(address.host)]" : address.host
            let policy = RequestPolicy(hosts: hosts + [own])
            let desk = RequestDesk(
                policy: policy, cameras: cameras, access: access,
                workers: RecordingWorkers(scratchFolder: scratchFolder), metrics: metrics)
            self.address = try Self.listen(on: address, group, desk)
        } catch {
            access.stop()
            metrics.stop()
            try? group.syncShutdownGracefully()
            throw .network(error)
        }
        (self.group, self.interruption, self.access) = (group, interruption, access)
        self.metrics = metrics
    }

    /// Serves until the interruption.
    public func run() {
        _ = interruption.wait()
        access.stop()
        metrics.stop()
        try? group.syncShutdownGracefully()
    }

    private static func refuseSameNames(_ cameras: [Camera]) throws(WebError) {
        var names: Set<String> = []
        for camera in cameras where !names.insert(camera.name).inserted { throw .sameName(camera.name) }
    }

    /// - Returns: the address on which it listens.
    private static func listen(
        on address: CamNetworking.SocketAddress, _ group: MultiThreadedEventLoopGroup, _ desk: RequestDesk
    ) throws(NetworkError) -> String {
        let connections = ConnectionLimit(mostConnections)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard connections.admit(channel) else { return channel.close(promise: nil) }
                    try configure(channel, desk)
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            // Otherwise the system would buffer megabytes, and so seconds, out of camweb's sight.
            .childChannelOption(.tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT)), value: 128 << 10)
            // Dead connections are detected even if nothing is sent.
            .childChannelOption(.tcpOption(.init(rawValue: TCP_USER_TIMEOUT)), value: 20_000)
            .childChannelOption(.tcpOption(.init(rawValue: TCP_KEEPIDLE)), value: 10)
            .childChannelOption(.tcpOption(.init(rawValue: TCP_KEEPINTVL)), value: 5)
            .childChannelOption(.writeBufferWaterMark, value: StallWatch.waitingBytes)
        do {
            let channel = try bootstrap.bind(host: address.host, port: Int(address.port)).wait()
            let port = channel.localAddress?.port ?? Int(address.port)
            return "\(CamNetworking.SocketAddress(host: address.host, port: UInt16(clamping: port)))"
        } catch {
            let code = (error as? IOError)?.errnoCode ?? EADDRNOTAVAIL
            throw NetworkError(.notListening(errno: code), address: "\(address)")
        }
    }

    private static func configure(_ channel: any Channel, _ desk: RequestDesk) throws {
        let pipeline = channel.pipeline.syncOperations
        // A client that sends without reading is not read from.
        try pipeline.addHandler(BackPressureHandler())
        let handler = HTTPHandler(desk)
        let upgrader = NIOWebSocketServerUpgrader(
            maxFrameSize: WebSocketViewer.largestFrame,
            shouldUpgrade: { channel, head in
                channel.eventLoop.makeSucceededFuture(desk.feed(for: head) == nil ? nil : HTTPHeaders())
            },
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    guard let feed = desk.feed(for: head) else { return channel.close(promise: nil) }
                    desk.access.attach(channel, of: head)
                    try channel.pipeline.syncOperations.addHandler(WebSocketViewer(feed))
                }
            })
        let boundHandler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        var limits = NIOHTTPDecoderLimitConfiguration()
        (limits.maxHeaderFieldSize, limits.maxHeaderListSize, limits.maxHeaderFieldCount) = (
            8 << 10, 32 << 10, 64
        )
        try pipeline.configureHTTPServerPipeline(
            withServerUpgrade: (
                upgraders: [upgrader],
                completionHandler: { context in
                    context.pipeline.syncOperations.removeHandler(boundHandler.value, promise: nil)
                }
            ),
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
        try pipeline.addHandler(handler)
    }
}

// MARK: The number of connections

/// Limits the connections of a server; each takes a descriptor and memory.
final class ConnectionLimit: Sendable {
    private let most: Int
    private let count = Atomic<Int>(0)

    init(_ most: Int) { self.most = most }

    /// Returns whether a connection may stay; the caller closes it otherwise.
    func admit(_ channel: any Channel) -> Bool {
        let before = count.wrappingAdd(1, ordering: .relaxed).oldValue
        channel.closeFuture.whenComplete { [self] _ in count.wrappingSubtract(1, ordering: .relaxed) }
        return before < most
    }
}
