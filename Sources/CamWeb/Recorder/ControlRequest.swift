import FoundationEssentials
import Glibc
import NIOCore
import NIOPosix

/// Sends one command to a recorder's control socket, and reads its answer: a line of JSON, perhaps with bytes after it.
final class ControlRequest: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Why a command was not carried out, in words.
    struct Failure: Error, Hashable {
        let reason: String
        /// Whether the recorder refused it; otherwise there was no answer.
        var isRefusal = false
    }

    /// What a recorder answers to a command that it accepts.
    struct Answer: Sendable {
        /// The line, as JSON.
        let line: ByteBuffer
        /// What follows it: a picture, or findings.
        let body: ByteBuffer
    }

    /// The fields of every answer.
    private struct Head: Decodable {
        let ok: Bool
        var error: String?
        var bytes: Int?
    }

    private let command: String
    private let patience: TimeAmount
    private let answered: EventLoopPromise<Answer>
    /// What came so far: the line, until it is complete, and then what follows it.
    private var received = ByteBuffer()
    private var line: (text: ByteBuffer, bytes: Int)?

    /// How long a recorder may take for most commands.
    static let usualPatience = TimeAmount.seconds(5)
    /// More than the list of any camera's controls.
    private static let longestLine = 512 << 10
    /// More than any JPEG of a camera.
    private static let longestBody = 32 << 20
    private static let newline = UInt8(ascii: "\n")

    private init(_ command: String, patience: TimeAmount, answered: EventLoopPromise<Answer>) {
        (self.command, self.patience, self.answered) = (command, patience, answered)
    }

    /// Sends a command.
    /// - Parameter patience: how long the whole answer may take.
    /// - Returns: the answer once it was accepted; fails with `Failure`.
    static func send(
        _ command: String, to path: String, patience: TimeAmount = usualPatience,
        on eventLoop: any EventLoop
    ) -> EventLoopFuture<Answer> {
        let answered = eventLoop.makePromise(of: Answer.self)
        ClientBootstrap(group: eventLoop)
            .connectTimeout(usualPatience)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        ControlRequest(command, patience: patience, answered: answered))
                }
            }
            .connect(unixDomainSocketPath: path)
            .whenFailure { answered.fail(Failure(reason: description(of: $0))) }
        return answered.futureResult
    }

    func channelActive(context: ChannelHandlerContext) {
        let line = context.channel.allocator.buffer(string: command + "\n")
        context.writeAndFlush(wrapOutboundOut(line), promise: nil)
        let deadline = context.eventLoop.assumeIsolated().scheduleTask(in: patience) { [self] in
            fail("no answer within \(patience.nanoseconds / 1_000_000_000) s", context)
        }
        answered.futureResult.whenComplete { _ in deadline.cancel() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        if line == nil {
            let view = received.readableBytesView
            guard let end = view.firstIndex(of: Self.newline) else {
                if received.readableBytes > Self.longestLine { fail("an answer without end", context) }
                return
            }
            guard let text = received.readSlice(length: end - view.startIndex), take(text, context) else {
                return
            }
            received.moveReaderIndex(forwardBy: 1)
        }
        guard let line, received.readableBytes >= line.bytes else { return }
        let body = received.readSlice(length: line.bytes) ?? ByteBuffer()
        answered.succeed(Answer(line: line.text, body: body))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail("the recorder closed the connection", context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(Self.description(of: error), context)
    }

    /// - Returns: whether the command was accepted.
    private func take(_ text: ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
        guard let head = try? JSONDecoder().decode(Head.self, from: Data(text.readableBytesView)),
            (0...Self.longestBody).contains(head.bytes ?? 0)
        else {
            fail("no answer of a recorder", context)
            return false
        }
        guard head.ok else {
            answered.fail(Failure(reason: head.error ?? "refused", isRefusal: true))
            context.close(promise: nil)
            return false
        }
        line = (text, head.bytes ?? 0)
        return true
    }

    private func fail(_ reason: String, _ context: ChannelHandlerContext) {
        answered.fail(Failure(reason: reason))
        context.close(promise: nil)
    }

    private static func description(of error: any Error) -> String {
        guard let code = (error as? IOError)?.errnoCode else { return "no connection" }
        return String(cString: strerror(code))
    }
}
