import CamNetworking
import CamPlatform
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import CamWeb

/// A server on a free port of the loopback interface, which ends with the object.
final class RunningServer: Sendable {
    let port: Int
    private let server: WebServer
    private let cancellation: CancellationFlag

    init(
        _ source: CameraSource, access: AccessRules = AccessRules(), scratchFolder: String = "/tmp",
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        cancellation = try #require(CancellationFlag())
        server = try WebServer(
            on: CamNetworking.SocketAddress(host: "127.0.0.1", port: 0), cameras: source, access: access,
            placement: Placement(),
            scratchFolder: scratchFolder, indexFolder: nil, cancellation: cancellation, report: { _ in },
            warn: warn)
        port = Int(server.address.split(separator: ":").last ?? "") ?? 0
    }

    deinit {
        cancellation.raise()
        server.run()
    }
}

/// A recorder that sends the same bytes on each connection over and over, each time the peer has taken them.
final class RecorderDouble: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let bytes: ByteBuffer
    private let pause: TimeAmount?

    private init(_ bytes: ByteBuffer, pause: TimeAmount?) { (self.bytes, self.pause) = (bytes, pause) }

    /// Listens.
    /// - Parameter pause: the time between two repetitions; nil for none.
    static func listen(
        at path: String, _ bytes: [UInt8], pause: TimeAmount? = nil
    ) async throws -> any Channel {
        let buffer = ByteBuffer(bytes: bytes)
        return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(RecorderDouble(buffer, pause: pause))
                }
            }
            .bind(unixDomainSocketPath: path).get()
    }

    func channelActive(context: ChannelHandlerContext) { send(context) }

    private func send(_ context: ChannelHandlerContext) {
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenSuccess { [self] in
            guard let pause else { return context.eventLoop.assumeIsolated().execute { self.send(context) } }
            context.eventLoop.assumeIsolated().scheduleTask(in: pause) { self.send(context) }
        }
        context.writeAndFlush(wrapOutboundOut(bytes), promise: sent)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// A client that sends a text once and counts what it gets.
final class ClientDouble: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What a client has seen so far.
    final class Counts: Sendable {
        let bytes = Atomic<Int>(0)
        let isClosed = Atomic<Bool>(false)
        private let head = Mutex<[UInt8]>([])
        private static let longestHead = 64 << 10

        /// What came first, in which other bytes are replaced.
        var text: String { head.withLock { String(decoding: $0, as: UTF8.self) } }

        fileprivate func note(_ received: ByteBuffer) {
            bytes.add(received.readableBytes, ordering: .relaxed)
            head.withLock { head in
                head += received.readableBytesView.prefix(Self.longestHead - head.count)
            }
        }
    }

    private let counts: Counts
    private let request: ByteBuffer
    /// Sent again and again while the server takes it; empty for nothing.
    private let flood: ByteBuffer
    private var hasRead = false

    private init(_ counts: Counts, _ request: ByteBuffer, _ flood: ByteBuffer) {
        (self.counts, self.request, self.flood) = (counts, request, flood)
    }

    /// Connects and sends a request, then the flood.
    @discardableResult static func connect(
        to port: Int, _ request: String, flood: [UInt8] = [], counts: Counts = Counts()
    ) async throws -> (channel: any Channel, counts: Counts) {
        let (request, flood) = (ByteBuffer(string: request), ByteBuffer(bytes: flood))
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ClientDouble(counts, request, flood))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return (channel, counts)
    }

    /// A browser's request for the live pictures of a camera.
    static func watch(_ camera: String, _ port: Int) -> String {
        "GET /live/\(camera) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nOrigin: http://127.0.0.1:\(port)\r\n"
            + "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(request), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !hasRead, flood.readableBytes > 0 { send(context) }
        hasRead = true
        counts.note(unwrapInboundIn(data))
    }

    private func send(_ context: ChannelHandlerContext) {
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenSuccess { [self] in
            context.eventLoop.assumeIsolated().execute { self.send(context) }
        }
        context.writeAndFlush(wrapOutboundOut(flood), promise: sent)
    }

    func channelInactive(context: ChannelHandlerContext) { counts.isClosed.store(true, ordering: .relaxed) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// A recorder's control socket that gives the same answer to each command.
enum ControlDouble {
    static func listen(at path: String, answer: String) async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(answer))
                }
            }
            .bind(unixDomainSocketPath: path).get()
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answer: String

        init(_ answer: String) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer + "\n")), promise: nil)
        }
    }
}
