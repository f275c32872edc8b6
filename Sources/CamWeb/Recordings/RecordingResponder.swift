import CamPlatform
import Glibc
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
    private var pace = ReadingPace()
    private var deadline: Scheduled<Void>?

    init(
        isHead: Bool, keepsAlive: Bool, context: ChannelHandlerContext,
        onEnd: @escaping (EventLoopFuture<Void>) -> Void
    ) {
        (self.isHead, self.keepsAlive, self.context, self.onEnd) = (isHead, keepsAlive, context, onEnd)
    }

    /// Begins to make the response.
    /// - Parameter client: who asks.
    func begin(_ request: RecordingRequest, from client: ClientAddress, by workers: RecordingWorkers) {
        AcknowledgementTimeout.lift(on: context.channel)
        let responder = NIOLoopBound(self, eventLoop: context.eventLoop)
        let loop = context.eventLoop
        let sink = ResponseSink { part in loop.execute { responder.value.write(part) } }
        self.sink = sink
        do throws(Refusal) {
            try workers.start(request, from: client, sink)
        } catch {
            refuse(error, for: request.rights)
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
            send(.body(.byteBuffer(bytes)), count).whenComplete { _ in sink.noteSent(count) }
        case .end: end()
        case .abort:
            leave()
            context.close(promise: nil)
        }
    }

    private func refuse(_ refusal: Refusal, for rights: Rights) {
        let response = Response(refusal, for: rights)
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
    private func send(_ part: HTTPServerResponsePart, _ count: Int = 0) -> EventLoopFuture<Void> {
        let sent = context.eventLoop.makePromise(of: Void.self)
        if pendingCount == 0 { pace.begin(at: .now()) }
        pendingCount += 1
        if deadline == nil { watch() }
        sent.futureResult.assumeIsolated().whenComplete { [self] _ in
            pendingCount -= 1
            pace.note(count, at: .now())
            watch()
        }
        context.writeAndFlush(HTTPHandler.wrapOutboundOut(part), promise: sent)
        return sent.futureResult
    }

    private func watch() {
        deadline?.cancel()
        deadline = nil
        guard pendingCount > 0 else { return }
        deadline = context.eventLoop.assumeIsolated().scheduleTask(deadline: pace.deadline) { [context] in
            context.close(promise: nil)
        }
    }

    private func write(_ part: HTTPServerResponsePart) {
        context.write(HTTPHandler.wrapOutboundOut(part), promise: nil)
    }
}

// MARK: Slow browsers

/// How long the system waits for a peer to acknowledge what was sent (TCP_USER_TIMEOUT), which finds dead connections.
///
/// Linux also counts the time in which the window of a peer is smaller than what is sent next. A browser with a small
/// receive buffer reads on for minutes like that, so responses from recordings have no such timeout: `ReadingPace` alone
/// says how slowly a browser may read.
enum AcknowledgementTimeout {
    /// Milliseconds.
    static let usual = 20_000

    /// Waits for any time, until `restore`.
    static func lift(on channel: any Channel) { set(0, on: channel) }

    /// Waits the usual time again. The peer must have read the response: the system has the end of it after it was sent.
    static func restore(on channel: any Channel) { set(usual, on: channel) }

    private static func set(_ milliseconds: Int, on channel: any Channel) {
        try? channel.syncOptions?.setOption(
            .tcpOption(.init(rawValue: TCP_USER_TIMEOUT)), value: milliseconds)
    }
}

/// How slowly a browser may read: 8 kB a second over any two minutes. The system's buffers pass on what it has read in
/// portions, so that a shorter time says little.
struct ReadingPace {
    /// When the browser is too slow, unless it reads more.
    private(set) var deadline = NIODeadline.distantFuture

    private static let bytesPerSecond = 8000
    private static let reserve = TimeAmount.seconds(120)

    /// Records that data waits for the browser.
    mutating func begin(at now: NIODeadline) { deadline = now + Self.reserve }

    /// Records that it has read bytes.
    mutating func note(_ count: Int, at now: NIODeadline) {
        let time = TimeAmount.nanoseconds(Int64(count) * 1_000_000_000 / Int64(Self.bytesPerSecond))
        deadline = min(deadline + time, now + Self.reserve)
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
    private var closed: (@Sendable () -> Void)?
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

    /// Has `action` called when the browser no longer waits.
    func whenClosed(_ action: @escaping @Sendable () -> Void) { monitor.withLock { closed = action } }

    /// Begins the response.
    func begin(_ status: HTTPResponseStatus, _ headers: HTTPHeaders) {
        if !isGone { deliver(.head(status, headers)) }
    }

    /// Sends bytes after waiting for room.
    /// - Parameter turn: given back while the browser has to read first.
    /// - Returns: false if the browser no longer waits for the response.
    func send(_ bytes: ByteBuffer, _ turn: WorkTurn? = nil) -> Bool {
        var rest = bytes
        while let piece = rest.readSlice(length: min(Self.longestPiece, rest.readableBytes)),
            piece.readableBytes > 0
        {
            guard waitForRoom(turn) else { return false }
            monitor.withLock { waitingCount += piece.readableBytes }
            deliver(.body(piece))
        }
        return !isGone
    }

    private func waitForRoom(_ turn: WorkTurn?) -> Bool {
        let hasRoom = monitor.withLock { waitingCount < Self.mostWaiting }
        guard !hasRoom else { return !isGone }
        turn?.giveBack()
        monitor.withLock {
            while waitingCount >= Self.mostWaiting, !isOver { monitor.wait() }
        }
        return (turn?.take() ?? true) && !isGone
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
        let closed = monitor.withLock {
            isOver = true
            monitor.signal()
            return self.closed
        }
        closed?()
    }
}
