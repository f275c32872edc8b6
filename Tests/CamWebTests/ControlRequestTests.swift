import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import CamWeb

@Suite("commands to a recorder")
struct ControlRequestTests {
    private let folder = TemporaryFolder()

    /// A recorder that has one answer to everything; without one it closes the connection.
    private final class Recorder: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answer: String?

        init(_ answer: String?) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard String(buffer: unwrapInboundIn(data)) == "keyframe\n", let answer else {
                return context.close(promise: nil)
            }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        }
    }

    /// What becomes of a command at a recorder with an answer.
    private func answer(_ answer: String?) async throws -> Result<ControlRequest.Answer, any Error> {
        let path = folder.path("\(UInt32.random(in: 0 ... .max))")
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Recorder(answer))
                }
            }
            .bind(unixDomainSocketPath: path).get()
        defer { server.close(promise: nil) }
        return await result(at: path)
    }

    private func result(at path: String) async -> Result<ControlRequest.Answer, any Error> {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        do { return .success(try await ControlRequest.send("keyframe", to: path, on: loop).get()) } catch {
            return .failure(error)
        }
    }

    /// Why a command failed; nil if it did not.
    private func failure(answer: String?) async throws -> String? { reason(try await self.answer(answer)) }

    private func reason(_ result: Result<ControlRequest.Answer, any Error>) -> String? {
        guard case .failure(let error) = result else { return nil }
        return (error as? ControlRequest.Failure)?.reason ?? "\(error)"
    }

    @Test("one that is accepted")
    func accepted() async throws { #expect(try await failure(answer: "{\"ok\":true}\n") == nil) }

    @Test("one that is refused, in the recorder's words")
    func refused() async throws {
        let answer = "{\"error\":\"the camera encodes\",\"ok\":false}\n"
        #expect(try await failure(answer: answer) == "the camera encodes")
        #expect(try await failure(answer: "{\"ok\":false}\n") == "refused")
    }

    @Test(
        "what is no answer",
        arguments: [
            ("hello\n", "no answer of a recorder"), ("\n", "no answer of a recorder"),
            ("{}\n", "no answer of a recorder"),
            ("{\"ok\":true,\"bytes\":-1}\n", "no answer of a recorder"),
            ("{\"ok\":true,\"bytes\":99999999999}\n", "no answer of a recorder"),
            (String(repeating: "a", count: (512 << 10) + 1), "an answer without end"),
        ])
    func damaged(answer: String, reason: String) async throws {
        #expect(try await failure(answer: answer) == reason)
    }

    @Test("what follows the line belongs to the answer, and nothing after that")
    func body() async throws {
        let answer = try await answer("{\"bytes\":3,\"ok\":true}\nabcd").get()
        #expect(String(buffer: answer.body) == "abc")
        #expect(String(buffer: answer.line) == "{\"bytes\":3,\"ok\":true}")
    }

    @Test("a recorder that is not there, or goes away")
    func absent() async throws {
        #expect(reason(await result(at: folder.path("none"))) == "No such file or directory")
        #expect(try await failure(answer: nil) == "the recorder closed the connection")
    }
}
