import CamControlProtocol
import FoundationEssentials
import Glibc
import NIOCore
import NIOPosix

/// Sends requests of the page and of Prometheus to the recorder of a camera. Clients that ask the same
/// question at a time share one answer. Used on the event loop.
final class RecorderLink: Sendable {
    private let path: String
    private let state: NIOLoopBoundBox<State>

    /// Belongs to the event loop.
    private struct State {
        /// The latest answers, for reuse.
        var shared: [Question: (answer: EventLoopFuture<ControlRequest.Answer>, end: NIODeadline)] = [:]
        /// The number of running requests.
        var count = 0
    }

    /// A command that only reads. Its answer, which clients share, is reused for a while.
    enum Question: String, Hashable {
        case stats, controls, doctor, kept
        case snapshot = "snapshot jpeg"

        /// How long an answer is reused.
        fileprivate var life: TimeAmount {
            switch self {
            case .stats: .milliseconds(500)
            // A client that has just set a control or kept a recording expects the new value.
            case .controls, .kept: .zero
            // However many ask, a recorder makes one picture a second.
            case .snapshot: .seconds(1)
            case .doctor: .seconds(10)
            }
        }

        /// Whether a failure is reused as well. Others end sooner than they are noticed, with each look of a page.
        fileprivate var sharesFailures: Bool { self == .snapshot }

        /// How long an answer may take. `doctor` tries drivers, which may hang; a camera may be slow to
        /// report each control.
        fileprivate var patience: TimeAmount {
            switch self {
            case .stats, .kept: ControlRequest.usualPatience
            case .snapshot: .seconds(15)
            case .controls: .seconds(30)
            case .doctor: .seconds(40)
            }
        }
    }

    /// The most running requests; a recorder has eight connections in total.
    private static let mostRequests = 4

    /// - Parameter path: the recorder's control socket.
    init(_ path: String, on eventLoop: any EventLoop) {
        self.path = path
        state = .makeBoxSendingValue(State(), eventLoop: eventLoop)
    }

    /// Asks a question, or shares the answer to an equal one.
    func ask(_ question: Question, at now: NIODeadline = .now()) -> EventLoopFuture<ControlRequest.Answer> {
        if let known = state.value.shared[question], now < known.end { return known.answer }
        let answer = send(question.rawValue, patience: question.patience)
        // Until the answer arrives, all clients share it.
        state.value.shared[question] = (answer, .distantFuture)
        answer.assumeIsolated().whenComplete { [state] result in
            let isGood = (try? result.get()) != nil
            let isReused = isGood || question.sharesFailures
            state.value.shared[question] = isReused ? (answer, .now() + question.life) : nil
        }
        return answer
    }

    /// Asks whether the recording is paused.
    func isPaused() -> EventLoopFuture<Bool> {
        ask(.stats).assumeIsolated().map { answer in
            let reply = try? JSONDecoder().decode(PauseReply.self, from: Data(answer.line.readableBytesView))
            return reply?.stats.state == .paused
        }.nonisolated()
    }

    /// The part of the statistics that says whether the recording is paused.
    private struct PauseReply: Decodable {
        struct Statistics: Decodable {
            let state: RecordingStatistics.State
        }
        let stats: Statistics
    }

    /// Sends a command.
    func send(
        _ line: String, patience: TimeAmount = ControlRequest.usualPatience
    ) -> EventLoopFuture<ControlRequest.Answer> {
        guard state.value.count < Self.mostRequests else {
            return state.eventLoop.makeFailedFuture(
                ControlRequest.Failure(reason: "the recorder has not answered yet; try again"))
        }
        state.value.count += 1
        let answer = ControlRequest.send(line, to: path, patience: patience, on: state.eventLoop)
        answer.assumeIsolated().whenComplete { [state] _ in state.value.count -= 1 }
        return answer
    }
}

// MARK: A request

/// Sends one command to the control socket of a recorder, and reads the answer: a line of JSON, perhaps
/// followed by bytes.
final class ControlRequest: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Why a command failed, in words.
    struct Failure: Error, Hashable {
        let reason: String
        /// Whether the recorder refused the command; otherwise it did not answer.
        var isRefusal = false
    }

    /// The answer to an accepted command.
    struct Answer: Sendable {
        /// The line, as JSON.
        let line: ByteBuffer
        /// The bytes after the line: a picture, or findings.
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
    /// The bytes received so far: the line until it is complete, then its body.
    private var received = ByteBuffer()
    private var line: (text: ByteBuffer, bytes: Int)?

    /// How long most commands may take.
    static let usualPatience = TimeAmount.seconds(5)
    /// More than the controls of any camera take.
    private static let longestLine = 512 << 10
    /// More than any JPEG of a camera.
    private static let longestBody = 32 << 20
    private static let newline = UInt8(ascii: "\n")

    private init(_ command: String, patience: TimeAmount, answered: EventLoopPromise<Answer>) {
        (self.command, self.patience, self.answered) = (command, patience, answered)
    }

    /// Sends a command.
    /// - Parameter patience: how long the whole answer may take.
    /// - Returns: the answer if the recorder accepts the command; fails with `Failure`.
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
        // Only what is new can end the line: an endless one is not searched again and again.
        let searched = received.writerIndex
        received.writeBuffer(&bytes)
        if line == nil {
            let view = received.readableBytesView
            guard let end = view[searched...].firstIndex(of: Self.newline) else {
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
