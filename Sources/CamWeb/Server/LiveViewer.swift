import Bitstream
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Receives the events of a camera on the event loop.
protocol LiveViewer: AnyObject {
    var form: LiveForm { get }
    /// Whether the viewer may see why a camera is unavailable.
    var seesDetails: Bool { get }

    /// Takes an event; it is sent at the next `flush` at the latest.
    /// - Parameter text: the text message of the event, encoded once for all viewers.
    func take(_ event: ViewerEvent, text: ByteBuffer?)
    func flush()
    /// Disconnects the viewer, because the feed has ended.
    func end()
}

/// An event of a camera for its viewers.
enum ViewerEvent {
    case status(CameraStatus)
    /// The next keyframe begins a stream of another format.
    case format
    case picture(LivePicture)
    /// The stream cannot have this form, with the reason in words.
    case impossible(LiveForm, reason: String)
}

/// Counts the messages that a viewer has not read: small ones cost memory that the channel's bytes do not show.
struct UnreadMessages {
    private(set) var count = 0

    /// The most messages waiting for a viewer; as many pictures take seconds.
    static let most = 256

    /// Whether another message may be written to a channel.
    func hasRoom(on channel: any Channel) -> Bool { channel.isWritable && count < Self.most }

    mutating func noteWritten() { count += 1 }
    mutating func noteRead() { count -= 1 }
}

// MARK: Browsers

/// Sends the stream of a camera to a browser. A browser that reads too slowly gets nothing until the next
/// keyframe; a browser that does not read is disconnected.
final class WebSocketViewer: ChannelInboundHandler, LiveViewer {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    let form: LiveForm
    let seesDetails: Bool
    private let feed: CameraFeed
    private var context: ChannelHandlerContext?
    private var gate = KeyframeGate()
    /// The container whose header was sent; nil before the first, and in a form without containers.
    private var container: ContainerStart?
    /// Why the stream cannot have the form, once that was sent.
    private var impossibility: String?
    private let stall = StallWatch()
    private var unread = UnreadMessages()
    /// The latest status and format that had no room yet.
    private var waitingStatus: ByteBuffer?
    private var waitingFormat: ByteBuffer?
    /// The latest ping that was not answered yet; earlier ones need no answer (RFC 6455, 5.5.3).
    private var ping: WebSocketFrame?
    private var mustFlush = false
    private var isClosing = false

    /// The largest message accepted; the page sends no messages.
    static let largestFrame = 4 << 10

    /// - Parameter form: one that consists of messages.
    init(_ feed: CameraFeed, _ form: LiveForm, seesDetails: Bool) {
        (self.feed, self.form, self.seesDetails) = (feed, form, seesDetails)
    }

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
        guard !isClosing else { return }
        let frame = unwrapInboundIn(data)
        // Clients mask their frames, and no negotiated extension uses the reserved bits (RFC 6455, 5.1, 5.2).
        guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
            return close(.protocolError)
        }
        switch frame.opcode {
        case .connectionClose:
            isClosing = true
            let reply = WebSocketFrame(fin: true, opcode: .connectionClose, data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(reply), promise: nil)
            context.close(promise: nil)
        case .ping: ping = frame
        case .pong, .text, .binary, .continuation: break
        default: close(.protocolError)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // A client that does not read gets no pongs, which would pile up.
        if let ping = ping.take(), !isClosing, unread.hasRoom(on: context.channel) {
            send(.pong, ping.unmaskedData)
            flush()
        }
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stall.note(hasRoom: unread.hasRoom(on: context.channel), of: context)
        sendWaiting()
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func take(_ event: ViewerEvent, text: ByteBuffer?) {
        guard let context, !isClosing else { return }
        switch event {
        case .status:
            waitingStatus = text
            sendTexts()
        case .format:
            waitingFormat = text
            sendTexts()
        case .picture(let picture) where picture.form == form:
            sendTexts()
            let hasRoom = unread.hasRoom(on: context.channel)
            stall.note(hasRoom: hasRoom, of: context)
            guard gate.admits(isKeyframe: picture.isKeyframe, hasRoom: hasRoom) else { return }
            if let start = picture.container, start !== container {
                container = start
                send(.binary, start.prologue)
            }
            send(.binary, picture.bytes)
        case .impossible(form, let reason):
            guard let text, reason != impossibility, unread.hasRoom(on: context.channel) else { break }
            impossibility = reason
            send(.text, text)
        case .picture, .impossible: break
        }
    }

    func flush() {
        guard mustFlush else { return }
        mustFlush = false
        context?.flush()
    }

    func end() { close(.goingAway) }

    private func close(_ code: WebSocketErrorCode) {
        guard !isClosing else { return }
        isClosing = true
        var data = ByteBuffer()
        data.write(webSocketErrorCode: code)
        send(.connectionClose, data)
        flush()
        context?.close(promise: nil)
    }

    /// Sends the texts for which there is room now. No picture passes before them: pictures need room, too.
    private func sendTexts() {
        guard let context else { return }
        if let text = waitingStatus, unread.hasRoom(on: context.channel) {
            waitingStatus = nil
            send(.text, text)
        }
        if let text = waitingFormat, unread.hasRoom(on: context.channel) {
            waitingFormat = nil
            send(.text, text)
        }
    }

    private func sendWaiting() {
        guard !isClosing, waitingStatus != nil || waitingFormat != nil else { return }
        sendTexts()
        flush()
    }

    private func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
        guard let context else { return }
        let read = context.eventLoop.makePromise(of: Void.self)
        unread.noteWritten()
        mustFlush = true
        context.write(
            wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: data)), promise: read)
        read.futureResult.assumeIsolated().whenComplete { [weak self] _ in
            guard let self else { return }
            unread.noteRead()
            if unread.hasRoom(on: context.channel) { stall.end() }
            sendWaiting()
        }
    }
}

// MARK: Players

/// Sends the stream of a camera to a player, in a container, as a response that ends with the stream. Used on
/// the event loop.
final class ContainerViewer: LiveViewer {
    let form: LiveForm
    private let feed: CameraFeed
    private let rights: Rights
    private let authority: String
    private let context: ChannelHandlerContext
    private var gate = KeyframeGate()
    /// The container in the response; nil before the first picture.
    private var container: ContainerStart?
    private var deadline: Scheduled<Void>?
    private var isOver = false
    private var unread = UnreadMessages()
    private let stall = StallWatch()

    /// How long a player waits for the first keyframe.
    private static let patience = TimeAmount.seconds(10)

    init(
        _ feed: CameraFeed, _ form: LiveForm, _ rights: Rights, authority: String,
        context: ChannelHandlerContext
    ) {
        (self.feed, self.form, self.rights) = (feed, form, rights)
        (self.authority, self.context) = (authority, context)
    }

    var seesDetails: Bool { rights.seesDetails }

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
        stall.end()
        feed.leave(self)
    }

    func take(_ event: ViewerEvent, text: ByteBuffer?) {
        guard !isOver else { return }
        switch event {
        case .status(.unavailable(let reason)), .status(.unplayable(let reason)): end(reason)
        case .status(.paused) where container == nil: end("the recording is paused; resume it")
        case .impossible(form, let reason): end(reason)
        case .picture(let picture) where picture.form == form: send(picture)
        case .status, .format, .picture, .impossible: break
        }
    }

    func flush() { if !isOver { context.flush() } }

    /// Records a change of the channel's writability.
    func noteWritability() {
        if !isOver { stall.note(hasRoom: unread.hasRoom(on: context.channel), of: context) }
    }

    func end() { if !isOver { end("") } }

    private func send(_ picture: LivePicture) {
        let hasRoom = unread.hasRoom(on: context.channel)
        stall.note(hasRoom: hasRoom, of: context)
        guard gate.admits(isKeyframe: picture.isKeyframe, hasRoom: hasRoom), let start = picture.container
        else { return }
        if container == nil { begin(with: start) }
        // A second container cannot follow in the same response.
        guard container === start else { return end("") }
        let read = context.eventLoop.makePromise(of: Void.self)
        unread.noteWritten()
        context.write(
            HTTPHandler.wrapOutboundOut(.body(.byteBuffer(picture.bytes))), promise: read)
        read.futureResult.assumeIsolated().whenComplete { [weak self] _ in
            guard let self else { return }
            unread.noteRead()
            if !isOver, unread.hasRoom(on: context.channel) { stall.end() }
        }
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
            let response = Response(Refusal.unavailable(reason), for: rights)
            write(
                .head(HTTPResponseHead(version: .http1_1, status: response.status, headers: response.headers))
            )
            write(.body(.byteBuffer(response.body)))
        }
        let sent = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(HTTPHandler.wrapOutboundOut(.end(nil)), promise: sent)
        sent.futureResult.assumeIsolated().whenComplete { [context] _ in context.close(promise: nil) }
        // A player that does not read the end loses its connection.
        stall.note(hasRoom: false, of: context)
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

    /// Records whether the peer has room for more.
    func note(hasRoom: Bool, of context: ChannelHandlerContext) {
        guard !hasRoom else { return end() }
        if deadline == nil { watch(context, waiting: Self.waitingBytes(of: context)) }
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
