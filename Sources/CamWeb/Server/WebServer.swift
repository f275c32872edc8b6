import CamNetworking
import CamPlatform
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// Serves the page and the live streams to browsers. One thread serves all connections, and each camera has a
/// thread for its recorder.
package final class WebServer: Sendable {
    /// The address on which it listens, with the port that the system chose if none was given.
    package let address: String
    private let group: MultiThreadedEventLoopGroup
    private let cancellation: CancellationFlag
    private let access: Authenticator

    /// The most connections at a time; one address gets live pictures and recordings on half of them at most.
    private static let mostConnections = 256
    /// The most connections of one address that wait for a request; several browsers keep fewer. A reverse proxy, whose
    /// connections all come from one address, limits its clients itself.
    private static let mostIdle = 32
    /// The most bytes read from a connection at a time, so that no client makes much work in one turn of the loop.
    private static let readLength = 4 << 10
    /// The most connections waiting to be accepted.
    private static let backlog: Int32 = 128

    /// Starts listening.
    /// - Parameters:
    ///   - access: who may use the server.
    ///   - placement: where browsers find the page.
    ///   - scratchFolder: where downloads are made, in files without names.
    ///   - indexFolder: where the indexes of recordings are kept; nil keeps them in memory.
    ///   - cancellation: ends the server.
    ///   - report: called with lines for the operator, on any thread.
    ///   - warn: called with what the operator must see even without asking for it.
    package init(
        on address: CamNetworking.SocketAddress, cameras source: CameraSource, access rules: AccessRules,
        placement: Placement, scratchFolder: String, indexFolder: String?, cancellation: CancellationFlag,
        report: @escaping @Sendable (String) -> Void, warn: @escaping @Sendable (String) -> Void
    ) throws(WebError) {
        guard address.isLoopback || rules.passwords != nil && rules.isBehindProxy else {
            throw .notLoopback(address)
        }
        if case .given(let cameras) = source { try Self.refuseSameNames(cameras) }
        guard Self.hasDescriptors else { throw .noDescriptors }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let access = Authenticator(rules, at: placement, on: loop, warn: warn)
        guard access.followFile(until: cancellation) else {
            access.stop()
            try? group.syncShutdownGracefully()
            throw .noThreads
        }
        do throws(NetworkError) {
            let catalogs = RecordingCatalogs(indexFolder: indexFolder)
            let cameras = CameraList(source, on: loop, report: report) { (camera) throws(NetworkError) in
                try CameraFeed(
                    camera, on: loop, catalogs: catalogs, cancellation: cancellation, report: report)
            }
            loop.execute { cameras.refresh() }
            let connections = ConnectionLimit(
                Self.mostConnections, idle: rules.isBehindProxy ? nil : Self.mostIdle, on: loop)
            let own = address.host.contains(":") ? "[\(address.host)]" : address.host
            let policy = RequestPolicy(
                hosts: placement.hosts + [own], isEmbeddable: !placement.ancestors.isEmpty)
            let desk = RequestRouter(
                policy: policy, placement: placement, cameras: cameras, access: access,
                workers: RecordingWorkers(scratchFolder: scratchFolder), metrics: MetricsCollector(on: loop),
                storage: StorageCollector(on: loop))
            self.address = try Self.listen(on: address, group, desk, connections)
        } catch {
            access.stop()
            try? group.syncShutdownGracefully()
            throw .network(error)
        }
        (self.group, self.cancellation, self.access) = (group, cancellation, access)
    }

    /// Whether there are descriptors for the event loop and a few connections. Without them NIO ends the process.
    private static var hasDescriptors: Bool {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < leastDescriptors {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            opened.append(descriptor)
        }
        return true
    }

    /// Twice the number that a server without browsers opens.
    private static let leastDescriptors = 16

    /// Serves until the cancellation.
    package func run() {
        _ = cancellation.wait()
        access.stop()
        try? group.syncShutdownGracefully()
    }

    private static func refuseSameNames(_ cameras: [Camera]) throws(WebError) {
        var names: Set<String> = []
        for camera in cameras where !names.insert(camera.name).inserted { throw .sameName(camera.name) }
    }

    /// - Returns: the address on which it listens.
    private static func listen(
        on address: CamNetworking.SocketAddress, _ group: MultiThreadedEventLoopGroup, _ desk: RequestRouter,
        _ connections: ConnectionLimit
    ) throws(NetworkError) -> String {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard connections.admit(channel) else { return channel.close(promise: nil) }
                    try configure(channel, desk, connections)
                }
            }
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: readLength)
            )
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            // Otherwise the system would buffer megabytes, and so seconds, out of camweb's sight.
            .childChannelOption(.tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT)), value: 128 << 10)
            // Dead connections are detected even if nothing is sent.
            .childChannelOption(
                .tcpOption(.init(rawValue: TCP_USER_TIMEOUT)), value: AcknowledgementTimeout.usual
            )
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

    private static func configure(
        _ channel: any Channel, _ desk: RequestRouter, _ connections: ConnectionLimit
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        // A client that sends without reading is not read from.
        try pipeline.addHandler(BackPressureHandler())
        let handler = HTTPHandler(desk, connections)
        let upgrader = NIOWebSocketServerUpgrader(
            maxFrameSize: WebSocketViewer.largestFrame,
            shouldUpgrade: { channel, head in
                let hasRoom = connections.hasRoom(for: desk.access.limitedClient(of: head, on: channel))
                return channel.eventLoop.makeSucceededFuture(
                    hasRoom && desk.viewer(for: head) != nil ? HTTPHeaders() : nil)
            },
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    let client = desk.access.limitedClient(of: head, on: channel)
                    guard let viewer = desk.viewer(for: head), connections.admitStream(channel, to: client)
                    else { return channel.close(promise: nil) }
                    connections.noteBusy(channel)
                    AcknowledgementTimeout.restore(on: channel)
                    desk.access.attach(channel, of: head)
                    try channel.pipeline.syncOperations.addHandler(viewer)
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
