import CamPlatform
import NIOCore
import NIOHTTP1

/// Writes a response made by another thread to its connection. Used on the event loop.
final class RecordingResponder {
    private let context: ChannelHandlerContext
    private let isHead: Bool
    private let keepsAlive: Bool
    /// Called after the response if the connection stays open; the future completes when everything is sent.
    private let onEnd: (EventLoopFuture<Void>) -> Void
    private var sink: ResponseSink?
    /// The number of writes that the browser has not received yet.
    private var pendingCount = 0
    private var deadline: Scheduled<Void>?

    /// How long a browser may read nothing while data waits.
    private static let patience = TimeAmount.seconds(10)

    init(
        isHead: Bool, keepsAlive: Bool, context: ChannelHandlerContext,
        onEnd: @escaping (EventLoopFuture<Void>) -> Void
    ) {
        (self.isHead, self.keepsAlive, self.context, self.onEnd) = (isHead, keepsAlive, context, onEnd)
    }

    /// Begins to make the response.
    func begin(_ request: RecordingRequest, by workers: RecordingWorkers) {
        let responder = NIOLoopBound(self, eventLoop: context.eventLoop)
        let loop = context.eventLoop
        let sink = ResponseSink { part in loop.execute { responder.value.write(part) } }
        self.sink = sink
        do throws(Refusal) {
            try workers.start(request, sink)
        } catch {
            refuse(error)
        }
    }

    /// Stops the response because the connection is gone.
    func leave() {
        sink?.close()
        sink = nil
    }

    private func write(_ part: ResponseSink.Part) {
        guard let sink else { return }
        switch part {
        case .head(let status, var headers):
            headers.add(name: "Connection", value: keepsAlive ? "keep-alive" : "close")
            write(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers)))
        case .body(let bytes):
            let count = bytes.readableBytes
            guard !isHead else { return sink.noteSent(count) }
            send(.body(.byteBuffer(bytes))).whenComplete { _ in sink.noteSent(count) }
        case .end: end()
        case .abort:
            leave()
            context.close(promise: nil)
        }
    }

    private func refuse(_ refusal: Refusal) {
        let response = Response(refusal)
        write(.head(response.status, response.headers))
        write(.body(response.body))
        end()
    }

    private func end() {
        leave()
        let sent = send(.end(nil))
        if keepsAlive { return onEnd(sent) }
        sent.assumeIsolated().whenComplete { [context] _ in context.close(promise: nil) }
    }

    /// Writes, and watches whether the browser reads.
    private func send(_ part: HTTPServerResponsePart) -> EventLoopFuture<Void> {
        let sent = context.eventLoop.makePromise(of: Void.self)
        pendingCount += 1
        if deadline == nil { watch() }
        sent.futureResult.assumeIsolated().whenComplete { [self] _ in
            pendingCount -= 1
            watch()
        }
        context.writeAndFlush(HTTPHandler.wrapOutboundOut(part), promise: sent)
        return sent.futureResult
    }

    private func watch() {
        deadline?.cancel()
        deadline = nil
        guard pendingCount > 0 else { return }
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [context] in
            context.close(promise: nil)
        }
    }

    private func write(_ part: HTTPServerResponsePart) {
        context.write(HTTPHandler.wrapOutboundOut(part), promise: nil)
    }
}

// MARK: From the thread to the connection

/// Carries a response from the thread that makes it to its connection. Memory is bounded: the thread waits
/// until the browser has received earlier bytes.
final class ResponseSink: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private var waitingCount = 0
    private var isOver = false
    /// Called on the thread that makes the response.
    private let deliver: @Sendable (Part) -> Void

    /// A part of a response.
    enum Part: Sendable {
        case head(HTTPResponseStatus, HTTPHeaders)
        case body(ByteBuffer)
        case end
        /// Making the response failed after its head was sent; the browser must notice that the rest is
        /// missing.
        case abort
    }

    /// The most bytes waiting for the browser.
    private static let mostWaiting = 512 << 10
    /// The bytes that even a slow browser reads within seconds.
    private static let longestPiece = 64 << 10

    init(_ deliver: @escaping @Sendable (Part) -> Void) { self.deliver = deliver }

    /// Whether the browser no longer waits for the response.
    var isGone: Bool { monitor.withLock { isOver } }

    /// Begins the response.
    func begin(_ status: HTTPResponseStatus, _ headers: HTTPHeaders) {
        if !isGone { deliver(.head(status, headers)) }
    }

    /// Sends bytes after waiting for room.
    /// - Returns: false if the browser no longer waits for the response.
    func send(_ bytes: ByteBuffer) -> Bool {
        var rest = bytes
        while let piece = rest.readSlice(length: min(Self.longestPiece, rest.readableBytes)),
            piece.readableBytes > 0
        {
            guard sendPiece(piece) else { return false }
        }
        return !isGone
    }

    private func sendPiece(_ bytes: ByteBuffer) -> Bool {
        let isWanted = monitor.withLock {
            while waitingCount >= Self.mostWaiting, !isOver { monitor.wait() }
            waitingCount += bytes.readableBytes
            return !isOver
        }
        if isWanted { deliver(.body(bytes)) }
        return isWanted
    }

    /// Ends the response.
    func end() { if !isGone { deliver(.end) } }

    /// Ends the connection because the rest of the response is missing.
    func abort() { if !isGone { deliver(.abort) } }

    /// Records that the browser has received bytes.
    func noteSent(_ count: Int) {
        monitor.withLock {
            waitingCount -= count
            monitor.signal()
        }
    }

    /// Records that the browser no longer waits.
    func close() {
        monitor.withLock {
            isOver = true
            monitor.signal()
        }
    }
}
