import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import CamWeb

@Suite("asking a recorder", .hangGuard)
struct RecorderLinkTests {
    private let folder = TemporaryFolder()
    private let loop = MultiThreadedEventLoopGroup.singleton.next()

    /// Answers each connection with its number, or never.
    private final class Recorder: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let number: Int
        private let answers: Bool
        private let refuses: Bool

        init(_ number: Int, answers: Bool, refuses: Bool) {
            (self.number, self.answers, self.refuses) = (number, answers, refuses)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard answers else { return }
            let answer = ByteBuffer(
                string: refuses
                    ? "{\"ok\":false,\"error\":\"\(number)\"}\n" : "{\"ok\":true,\"number\":\(number)}\n")
            context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        }
    }

    /// Lets a link ask a recorder, on the link's event loop.
    private func asking<Result: Sendable>(
        answers: Bool = true, refuses: Bool = false,
        _ ask: @escaping @Sendable (RecorderLink) -> [EventLoopFuture<ControlRequest.Answer>],
        _ conclude: @escaping @Sendable ([Swift.Result<ControlRequest.Answer, any Error>]) -> Result
    ) async throws -> Result {
        let path = folder.path("control")
        let count = NIOLoopBoundBox.makeBoxSendingValue(0, eventLoop: loop)
        let server = try await ServerBootstrap(group: loop)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    count.value += 1
                    try channel.pipeline.syncOperations.addHandler(
                        Recorder(count.value, answers: answers, refuses: refuses))
                }
            }
            .bind(unixDomainSocketPath: path).get()
        defer { server.close(promise: nil) }
        let loop = loop
        return try await loop.flatSubmit {
            EventLoopFuture.whenAllComplete(ask(RecorderLink(path, on: loop)), on: loop)
        }.map(conclude).get()
    }

    @Test("all who ask the same at a time share one answer; commands are each sent")
    func shared() async throws {
        let lines = try await asking { link in
            (0..<20).map { _ in link.ask(.stats) } + [link.ask(.controls), link.send("keyframe")]
        } _: { results in
            results.compactMap { try? String(buffer: $0.get().line) }
        }
        #expect(lines.count == 22)
        #expect(Set(lines[..<20]).count == 1)
        #expect(Set(lines[19...]).count == 3)
    }

    @Test(
        "of a second's requests for a picture, the recorder sees one, whatever it answers",
        arguments: [false, true])
    func pictures(refuses: Bool) async throws {
        let numbers = try await asking(refuses: refuses) { link in
            let begin = NIODeadline.now()
            let first = link.ask(.snapshot, at: begin)
            let answered = first.map { _ in }.recover { _ in }
            let later = (0..<20).map { _ in
                answered.flatMap { link.ask(.snapshot, at: begin + .milliseconds(999)) }
            }
            let next = answered.flatMap { link.ask(.snapshot, at: .now() + .seconds(2)) }
            return [first] + later + [next]
        } _: { results in
            results.map { result -> String in
                switch result {
                case .success(let answer): String(buffer: answer.line)
                case .failure(let error): (error as? ControlRequest.Failure)?.reason ?? "\(error)"
                }
            }
        }
        #expect(Set(numbers[..<21]).count == 1)
        #expect(numbers[21] != numbers[0])
    }

    @Test("a recorder that does not answer is not asked without end")
    func bounded() async throws {
        let reasons = try await asking(answers: false) { link in
            (0..<9).map { _ in link.send("keyframe", patience: .milliseconds(50)) }
        } _: { results in
            results.map { result -> String in
                guard case .failure(let error) = result else { return "" }
                return (error as? ControlRequest.Failure)?.reason ?? "\(error)"
            }
        }
        #expect(reasons.count { $0.hasPrefix("no answer within") } == 4)
        #expect(reasons.count { $0.contains("has not answered yet") } == 5)
    }
}
