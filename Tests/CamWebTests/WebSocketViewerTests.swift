import CamPlatform
import NIOCore
import NIOEmbedded
import NIOWebSocket
import TestSupport
import Testing

@testable import CamWeb

@Suite("what a browser is sent", .hangGuard)
struct WebSocketViewerTests {
    private let loop = NIOAsyncTestingEventLoop()
    private let channel: NIOAsyncTestingChannel
    private let cancellation: CancellationFlag

    init() async throws {
        cancellation = try #require(CancellationFlag())
        // The camera's thread stays quiet: all statuses are the test's.
        cancellation.raise()
        channel = NIOAsyncTestingChannel(loop: loop)
        let camera = try #require(Camera("door=unix:/nowhere/live"))
        let (loop, channel, cancellation) = (loop, channel, cancellation)
        try await loop.executeInContext {
            let feed = try CameraFeed(camera, on: loop, cancellation: cancellation, report: { _ in })
            // The channel counts bytes that wait, and knows no other kinds of messages.
            try channel.pipeline.syncOperations.addHandlers(
                WebSocketFrameEncoder(), WebSocketViewer(feed, .messages, seesDetails: true))
        }
        // The status at the beginning.
        #expect(try await texts().count == 1)
    }

    /// Calls the viewer on its event loop.
    private func viewer(_ body: @escaping @Sendable (WebSocketViewer) -> Void) async throws {
        try await loop.executeInContext { [channel] in
            body(try channel.pipeline.syncOperations.handler(type: WebSocketViewer.self))
        }
    }

    /// Reads what was sent: frames of a few bytes, not masked.
    private func frames() async throws -> [(opcode: WebSocketOpcode, text: String)] {
        try await frames(of: channel)
    }

    private func frames(
        of channel: NIOAsyncTestingChannel
    ) async throws -> [(opcode: WebSocketOpcode, text: String)] {
        var bytes = ByteBuffer()
        while var part = try await channel.readOutbound(as: ByteBuffer.self) { bytes.writeBuffer(&part) }
        var frames: [(opcode: WebSocketOpcode, text: String)] = []
        while let first = bytes.readInteger(as: UInt8.self), let count = bytes.readInteger(as: UInt8.self) {
            let (opcode, text) = (
                WebSocketOpcode(encodedWebSocketOpcode: first & 0xF), bytes.readString(length: Int(count))
            )
            frames.append((try #require(opcode), try #require(text)))
        }
        return frames
    }

    private func texts() async throws -> [String] {
        try await frames().filter { $0.opcode == .text }.map(\.text)
    }

    private func setWritable(_ isWritable: Bool) async throws {
        channel.isWritable = isWritable
        try await loop.executeInContext { [channel] in
            channel.pipeline.syncOperations.fireChannelWritabilityChanged()
        }
    }

    @Test("while a browser does not read, only the latest status and format wait for it")
    func latest() async throws {
        try await setWritable(false)
        try await viewer { viewer in
            for number in 0..<10_000 {
                viewer.take(.status(.waiting), text: ByteBuffer(string: "status \(number)"))
                viewer.take(.format, text: ByteBuffer(string: "format \(number)"))
            }
            viewer.flush()
        }
        #expect(try await texts().isEmpty)
        try await setWritable(true)
        #expect(try await texts() == ["status 9999", "format 9999"])
    }

    @Test("small messages wait in a bounded number, however few bytes they have")
    func small() async throws {
        try await viewer { viewer in
            let picture = LivePicture(form: .messages, bytes: ByteBuffer(string: "x"), isKeyframe: true)
            for _ in 0..<10_000 { viewer.take(.picture(picture), text: nil) }
            viewer.take(.status(.waiting), text: ByteBuffer(string: "status"))
            viewer.flush()
        }
        let found = try await frames()
        #expect(found.count { $0.opcode == .binary } == UnreadMessages.most)
        // The status had no room before.
        #expect(found.count { $0.opcode == .text } == 1)
        // All that is read now; silence of the camera is no reason to disconnect its viewers.
        await loop.advanceTime(by: .minutes(1))
        try await viewer { viewer in
            viewer.take(.status(.waiting), text: ByteBuffer(string: "still there"))
            viewer.flush()
        }
        #expect(try await texts() == ["still there"])
    }

    @Test("a player gets the header before its first picture, and again when a new container begins")
    func header() async throws {
        let cancellation = cancellation
        let channel = NIOAsyncTestingChannel(loop: loop)
        try await loop.executeInContext { [loop] in
            let camera = try #require(Camera("door=unix:/nowhere/live"))
            let feed = try CameraFeed(camera, on: loop, cancellation: cancellation, report: { _ in })
            let viewer = WebSocketViewer(feed, .fragments, seesDetails: true)
            try channel.pipeline.syncOperations.addHandlers(WebSocketFrameEncoder(), viewer)
            func send(_ text: String, _ start: ContainerStart, isKeyframe: Bool = false) {
                let picture = LivePicture(
                    form: .fragments, bytes: ByteBuffer(string: text), isKeyframe: isKeyframe,
                    container: start)
                viewer.take(.picture(picture), text: nil)
            }
            let starts = ["A", "B"].map {
                ContainerStart(prologue: ByteBuffer(string: $0), contentType: "video/mp4")
            }
            send("0", starts[0])
            send("1", starts[0], isKeyframe: true)
            send("2", starts[0])
            send("3", starts[1], isKeyframe: true)
            for _ in 0..<3 {
                viewer.take(.impossible(.fragments, reason: "B frames"), text: ByteBuffer(string: "C"))
            }
            viewer.flush()
        }
        let texts = try await frames(of: channel).map(\.text).dropFirst()
        #expect(Array(texts) == ["A", "1", "2", "B", "3", "C"])
    }

    @Test("of the pings that came at once, the latest is answered")
    func pings() async throws {
        let channel = channel
        try await loop.executeInContext {
            for number in 0..<10_000 {
                var data = ByteBuffer(string: "\(number)")
                data.webSocketMask([1, 2, 3, 4])
                let ping = WebSocketFrame(fin: true, opcode: .ping, maskKey: [1, 2, 3, 4], data: data)
                channel.pipeline.syncOperations.fireChannelRead(NIOAny(ping))
            }
            channel.pipeline.syncOperations.fireChannelReadComplete()
        }
        let found = try await frames()
        #expect(found.map(\.opcode) == [.pong])
        #expect(found.map(\.text) == ["9999"])
    }
}
