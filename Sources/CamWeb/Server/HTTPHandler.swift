import NIOCore
import NIOHTTP1

/// Answers the requests of a connection, one after another. Closes an idle connection, and one whose request
/// does not end.
final class HTTPHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let desk: RequestRouter
    private let connections: ConnectionLimit
    private var head: HTTPRequestHead?
    /// The body of the request, if it may have one.
    private var form = ByteBuffer()
    private var deadline: Scheduled<Void>?
    private var isClosing = false
    /// Whether a request has no whole response yet.
    private var isAnswering = false
    private var viewer: ContainerViewer?
    private var responder: RecordingResponder?

    /// How long a client may take to send a request, and to read a response.
    private static let patience = TimeAmount.seconds(10)
    /// Bytes a second that a client must read.
    private static let slowestLine = 16 << 10

    init(_ desk: RequestRouter, _ connections: ConnectionLimit) {
        (self.desk, self.connections) = (desk, connections)
    }

    func handlerAdded(context: ChannelHandlerContext) { restartDeadline(context) }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        viewer?.leave()
        responder?.leave()
        (viewer, responder) = (nil, nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        viewer?.noteWritability()
        context.fireChannelWritabilityChanged()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, form) = (head, ByteBuffer())
        case .body(var bytes):
            let room = head.map(desk.longestBody) ?? 0
            guard form.readableBytes + bytes.readableBytes <= room else {
                return respond(with: Response(Refusal.unwantedBody), keepsAlive: false, context)
            }
            form.writeBuffer(&bytes)
        case .end:
            if let head = head.take() { answer(head, context) }
        }
    }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        isAnswering = true
        // A peer that sends another request has read the response before it.
        AcknowledgementTimeout.restore(on: context.channel)
        connections.noteBusy(context.channel)
        let client = desk.access.client(of: head, on: context.channel)
        guard let check = desk.access.check(head, from: client) else {
            return answer(head, from: client, context)
        }
        deadline?.cancel()
        check.assumeIsolated().whenComplete { [self] result in
            guard context.channel.isActive else { return }
            guard let refusal = (try? result.get()) ?? nil else { return answer(head, from: client, context) }
            carryOut(.response(Response(refusal)), head, context)
        }
    }

    private func answer(
        _ head: HTTPRequestHead, from client: ClientAddress, _ context: ChannelHandlerContext
    ) {
        guard desk.longestBody(of: head) > 0 else {
            return carryOut(streamRefusal(head, context) ?? desk.answer(to: head), head, context)
        }
        carryOut(desk.answer(to: head, form: form, from: client), head, context)
    }

    /// The refusal of a WebSocket that would have been one if its client had fewer streams.
    private func streamRefusal(
        _ head: HTTPRequestHead, _ context: ChannelHandlerContext
    ) -> RequestRouter.Answer? {
        let client = desk.access.limitedClient(of: head, on: context.channel)
        guard RequestRouter.isWebSocket(head), !connections.hasRoom(for: client),
            desk.viewer(for: head) != nil
        else { return nil }
        return .response(Response(Refusal.tooManyStreams))
    }

    private func carryOut(
        _ answer: RequestRouter.Answer, _ head: HTTPRequestHead, _ context: ChannelHandlerContext
    ) {
        switch answer {
        case .later(let response):
            // The future response has a separate timeout.
            deadline?.cancel()
            response.assumeIsolated().whenComplete { [self] result in
                guard context.channel.isActive else { return }
                let response = (try? result.get()) ?? Response(Refusal.ending)
                carryOut(.response(response), head, context)
            }
        case .response(let response):
            respond(
                with: response, isHead: head.method == .HEAD, keepsAlive: head.isKeepAlive, context)
            // A slow line gets more time for a large response.
            restartDeadline(context, for: response.body.readableBytes)
        case .stream(_, let form, let authority, _) where head.method == .HEAD:
            // The type is without codec, which is known only from the stream.
            let type = form == .mp4 ? "video/mp4" : "video/mp2t"
            respond(
                with: Response(type: type, body: [], authority: authority), isHead: true, keepsAlive: false,
                context)
        case .stream, .recording:
            let client = desk.access.limitedClient(of: head, on: context.channel)
            guard connections.admitStream(context.channel, to: client) else {
                return carryOut(.response(Response(Refusal.tooManyStreams)), head, context)
            }
            begin(answer, head, context)
        }
    }

    private func begin(
        _ answer: RequestRouter.Answer, _ head: HTTPRequestHead, _ context: ChannelHandlerContext
    ) {
        switch answer {
        case .stream(let feed, let form, let authority, let rights):
            isClosing = true
            deadline?.cancel()
            desk.access.attach(context.channel, of: head)
            let viewer = ContainerViewer(feed, form, rights, authority: authority, context: context)
            self.viewer = viewer
            viewer.begin()
        case .recording(let request): begin(request, head, context)
        case .response, .later: break
        }
    }

    private func begin(
        _ request: RecordingRequest, _ head: HTTPRequestHead, _ context: ChannelHandlerContext
    ) {
        deadline?.cancel()
        isClosing = !head.isKeepAlive
        let responder = RecordingResponder(
            isHead: head.method == .HEAD, keepsAlive: head.isKeepAlive, context: context
        ) { [weak self] sent in
            self?.responder = nil
            self?.isAnswering = false
            sent.assumeIsolated().whenSuccess {
                // The next request may have begun already.
                guard let self, self.responder == nil else { return }
                self.noteIdle(context)
                self.restartDeadline(context)
            }
        }
        self.responder = responder
        responder.begin(request, from: desk.access.client(of: head, on: context.channel), by: desk.workers)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // After a malformed request, which has been answered, the beginning of the next one is unknown. A
        // refused upgrade is also an error, but its answer follows.
        let isMalformed = error is HTTPParserError || error is NIOHTTPDecoderError
        if isMalformed || error is IOError { context.close(promise: nil) }
    }

    private func respond(
        with response: Response, isHead: Bool = false, keepsAlive: Bool, _ context: ChannelHandlerContext
    ) {
        var head = HTTPResponseHead(version: .http1_1, status: response.status, headers: response.headers)
        head.headers.add(name: "Connection", value: keepsAlive ? "keep-alive" : "close")
        isAnswering = false
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !isHead {
            context.write(wrapOutboundOut(.body(.byteBuffer(response.body))), promise: nil)
        }
        let sent = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
        guard !keepsAlive else {
            return sent.futureResult.assumeIsolated().whenSuccess { [self] in noteIdle(context) }
        }
        isClosing = true
        sent.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }

    /// Records that the connection waits for a request, unless the next one has come.
    private func noteIdle(_ context: ChannelHandlerContext) {
        if !isAnswering, context.channel.isActive { connections.noteIdle(context.channel) }
    }

    private func restartDeadline(_ context: ChannelHandlerContext, for bytes: Int = 0) {
        deadline?.cancel()
        let patience = Self.patience + .seconds(Int64(bytes / Self.slowestLine))
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: patience) {
            context.close(promise: nil)
        }
    }
}
