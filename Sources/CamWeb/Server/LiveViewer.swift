import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Receives the events of a camera on the event loop.
protocol LiveViewer: AnyObject {
    var form: LiveForm { get }

    func take(_ event: FeedEvent)
}

// MARK: Browsers

/// Sends the stream of a camera to a browser. A browser that reads too slowly gets nothing until the next
/// keyframe; a browser that does not read is disconnected.
final class WebSocketViewer: ChannelInboundHandler, LiveViewer {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    let form = LiveForm.messages
    private let feed: CameraFeed
    private var context: ChannelHandlerContext?
    private var gate = KeyframeGate()
    private let stall = StallWatch()

    /// The largest message accepted; the page sends no messages.
    static let largestFrame = 4 << 10

    init(_ feed: CameraFeed) { self.feed = feed }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        feed.join(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        feed.leave(self)
        stall.end()
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        // Clients mask their frames, and no negotiated extension uses the reserved bits (RFC 6455, 5.1, 5.2).
        guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
            return close(.protocolError)
        }
        switch frame.opcode {
        case .connectionClose:
            let reply = WebSocketFrame(fin: true, opcode: .connectionClose, data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(reply), promise: nil)
            context.close(promise: nil)
        // A client that does not read gets no pongs, which would pile up.
        case .ping where context.channel.isWritable:
            send(.pong, frame.unmaskedData)
        case .ping, .pong, .text, .binary, .continuation: break
        default: close(.protocolError)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stall.noteWritability(of: context)
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func take(_ event: FeedEvent) {
        guard let context else { return }
        switch event {
        case .status(let status): sendText(TextMessage(status).json)
        case .facts(let facts): sendText(TextMessage(facts).json)
        case .picture(let picture) where picture.form == form:
            let hasRoom = context.channel.isWritable
            guard gate.admits(isKeyframe: picture.isKeyframe, hasRoom: hasRoom) else { return }
            send(.binary, picture.bytes)
        case .picture, .impossible: break
        }
    }

    private func close(_ code: WebSocketErrorCode) {
        var data = ByteBuffer()
        data.write(webSocketErrorCode: code)
        send(.connectionClose, data)
        context?.close(promise: nil)
    }

    private func sendText(_ text: String) { send(.text, ByteBuffer(string: text)) }

    private func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
        guard let context else { return }
        let frame = WebSocketFrame(fin: true, opcode: opcode, data: data)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }
}

// MARK: Players

/// Sends the stream of a camera to a player, in a container, as a response that ends with the stream. Used on
/// the event loop.
final class ContainerViewer: LiveViewer {
    let form: LiveForm
    private let feed: CameraFeed
    private let authority: String
    private let context: ChannelHandlerContext
    private var gate = KeyframeGate()
    /// The container in the response; nil before the first picture.
    private var container: ContainerStart?
    private var deadline: Scheduled<Void>?
    private var isOver = false

    /// How long a player waits for the first keyframe.
    private static let patience = TimeAmount.seconds(10)

    init(_ feed: CameraFeed, _ form: LiveForm, authority: String, context: ChannelHandlerContext) {
        (self.feed, self.form, self.authority, self.context) = (feed, form, authority, context)
    }

    /// Joins the feed.
    func begin() {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [self] in
            end("no keyframe within \(Self.patience.nanoseconds / 1_000_000_000) s; check the recorder")
        }
        feed.join(self)
    }

    /// Leaves the feed because the connection is gone.
    func leave() {
        isOver = true
        deadline?.cancel()
        feed.leave(self)
    }

    func take(_ event: FeedEvent) {
        guard !isOver else { return }
        switch event {
        case .status(.unavailable(let reason)): end(reason)
        case .impossible(form, let reason): end(reason)
        case .picture(let picture) where picture.form == form: send(picture)
        case .status, .facts, .picture, .impossible: break
        }
    }

    private func send(_ picture: LivePicture) {
        guard gate.admits(isKeyframe: picture.isKeyframe, hasRoom: context.channel.isWritable),
            let start = picture.container
        else { return }
        if container == nil { begin(with: start) }
        // A second container cannot follow in the same response.
        guard container === start else { return end("") }
        write(.body(.byteBuffer(picture.bytes)))
        context.flush()
    }

    private func begin(with start: ContainerStart) {
        container = start
        deadline?.cancel()
        var headers = Response.headers(type: start.contentType, authority: authority)
        headers.add(name: "Connection", value: "close")
        write(.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)))
        write(.body(.byteBuffer(start.prologue)))
    }

    /// Ends the response, or refuses the request if the response has not begun.
    private func end(_ reason: String) {
        leave()
        if container == nil {
            let response = Response(Refusal.unavailable(reason))
            write(
                .head(HTTPResponseHead(version: .http1_1, status: response.status, headers: response.headers))
            )
            write(.body(.byteBuffer(response.body)))
        }
        let sent = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(HTTPHandler.wrapOutboundOut(.end(nil)), promise: sent)
        sent.futureResult.assumeIsolated().whenComplete { [context] _ in context.close(promise: nil) }
    }

    private func write(_ part: HTTPServerResponsePart) {
        context.write(HTTPHandler.wrapOutboundOut(part), promise: nil)
    }
}

// MARK: Connections that read nothing

/// Closes a connection whose peer reads nothing for too long. A peer that reads slowly keeps its connection.
final class StallWatch {
    private var deadline: Scheduled<Void>?

    /// The most bytes waiting for a viewer, not counting the picture that exceeds them.
    static let waitingBytes = ChannelOptions.Types.WriteBufferWaterMark(low: 128 << 10, high: 1 << 20)
    /// How long a viewer may read nothing while bytes wait.
    private static let patience = TimeAmount.seconds(10)

    /// Records a change of the channel's writability.
    func noteWritability(of context: ChannelHandlerContext) {
        end()
        if !context.channel.isWritable { watch(context, waiting: Self.waitingBytes(of: context)) }
    }

    /// Stops watching.
    func end() {
        deadline?.cancel()
        deadline = nil
    }

    private func watch(_ context: ChannelHandlerContext, waiting: Int) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [self] in
            let left = Self.waitingBytes(of: context)
            if left < waiting { watch(context, waiting: left) } else { context.close(promise: nil) }
        }
    }

    /// Hardly anything is added while the channel is not writable, so a lower count means that the peer
    /// reads.
    private static func waitingBytes(of context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}
