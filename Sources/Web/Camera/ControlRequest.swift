import FoundationEssentials
import Glibc
import NIOCore
import NIOPosix

/// Sends one command to a recorder's control socket, and reads its answer: one line each, the answer as JSON.
final class ControlRequest: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Why a command was not carried out, in words.
    struct Failure: Error, Hashable {
        let reason: String
    }

    private struct Answer: Decodable {
        let ok: Bool
        var error: String?
    }

    private let command: String
    private let answered: EventLoopPromise<Void>
    private var received: [UInt8] = []

    /// How long a recorder may take.
    private static let patience = TimeAmount.seconds(5)
    /// More than any answer to a command without data.
    private static let longestAnswer = 4 << 10
    private static let newline = UInt8(ascii: "\n")

    private init(_ command: String, answered: EventLoopPromise<Void>) {
        (self.command, self.answered) = (command, answered)
    }

    /// Sends a command.
    /// - Returns: succeeds once it was accepted, and fails with `Failure`.
    static func send(_ command: String, to path: String, on eventLoop: any EventLoop) -> EventLoopFuture<Void>
    {
        let answered = eventLoop.makePromise(of: Void.self)
        ClientBootstrap(group: eventLoop)
            .connectTimeout(patience)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        ControlRequest(command, answered: answered))
                }
            }
            .connect(unixDomainSocketPath: path)
            .whenFailure { answered.fail(Failure(reason: description(of: $0))) }
        return answered.futureResult
    }

    func channelActive(context: ChannelHandlerContext) {
        let line = context.channel.allocator.buffer(string: command + "\n")
        context.writeAndFlush(wrapOutboundOut(line), promise: nil)
        let deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [self] in
            fail("no answer within \(Self.patience.nanoseconds / 1_000_000_000) s", context)
        }
        answered.futureResult.whenComplete { _ in deadline.cancel() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += unwrapInboundIn(data).readableBytesView
        if let end = received.firstIndex(of: Self.newline) {
            take(received[..<end], context)
        } else if received.count > Self.longestAnswer {
            fail("an answer without end", context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail("the recorder closed the connection", context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(Self.description(of: error), context)
    }

    private func take(_ line: ArraySlice<UInt8>, _ context: ChannelHandlerContext) {
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(line)) else {
            return fail("no answer of a recorder", context)
        }
        guard answer.ok else { return fail(answer.error ?? "refused", context) }
        answered.succeed()
        context.close(promise: nil)
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
