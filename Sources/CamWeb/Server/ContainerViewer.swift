import NIOCore
import NIOHTTP1

/// Sends a camera's stream in a container, as a response that ends with the stream. Used on the event loop.
final class ContainerViewer: LiveViewer {
    let form: LiveForm
    private let feed: CameraFeed
    private let authority: String
    private let context: ChannelHandlerContext
    private var gate = KeyframeGate()
    /// The container that the response has; nil before its first picture.
    private var container: ContainerStart?
    private var deadline: Scheduled<Void>?
    private var isOver = false

    /// How long a player waits for the first keyframe.
    private static let patience = TimeAmount.seconds(10)

    init(_ feed: CameraFeed, _ form: LiveForm, authority: String, context: ChannelHandlerContext) {
        (self.feed, self.form, self.authority, self.context) = (feed, form, authority, context)
    }

    /// Begins to watch.
    func begin() {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [self] in
            end("no keyframe within \(Self.patience.nanoseconds / 1_000_000_000) s; check the recorder")
        }
        feed.join(self)
    }

    /// Stops watching, because the connection is gone.
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
        // Another container cannot follow in the same response.
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

    /// Ends the response, or refuses it where it has not begun.
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
