import NIOCore
import NIOWebSocket

/// Sends a camera's stream to a browser. One that reads too slowly gets nothing until the next keyframe, and one that does
/// not read at all is disconnected.
final class WebSocketViewer: ChannelInboundHandler, LiveViewer {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    let form = LiveForm.messages
    private let feed: CameraFeed
    private var context: ChannelHandlerContext?
    private var gate = KeyframeGate()
    private let stall = StallWatch()

    /// The largest message accepted; the page sends none.
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
        // Clients mask their frames, and no extension is agreed on that would use the reserved bits (RFC 6455, 5.1, 5.2).
        guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
            return close(.protocolError)
        }
        switch frame.opcode {
        case .connectionClose:
            let reply = WebSocketFrame(fin: true, opcode: .connectionClose, data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(reply), promise: nil)
            context.close(promise: nil)
        // Who pings without reading gets no answers that would pile up.
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
