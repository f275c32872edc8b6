import CamPlatform
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import CamWeb

/// What viewers get of a camera and when, on a clock of the test's own.
@Suite("a camera's events, turn by turn", .hangGuard)
struct FeedTurnsTests {
    private let loop = NIOAsyncTestingEventLoop()
    private let cancellation: CancellationFlag
    private let feed: CameraFeed

    /// A viewer that counts.
    private final class ViewerDouble: LiveViewer, @unchecked Sendable {
        // Safe to share: used on the event loop.
        let form = LiveForm.messages
        let seesDetails: Bool
        var texts: [String] = []
        var pictures = 0
        var isEnded = false

        init(seesDetails: Bool = true) { self.seesDetails = seesDetails }

        func take(_ event: ViewerEvent, text: ByteBuffer?) {
            if let text { texts.append(String(buffer: text)) }
            if case .picture = event { pictures += 1 }
        }
        func flush() {}
        func end() { isEnded = true }
    }

    init() throws {
        cancellation = try #require(CancellationFlag())
        // The camera's thread stays quiet: all events are the test's.
        cancellation.raise()
        let camera = try #require(Camera("door=unix:/nowhere/live"))
        feed = try CameraFeed(camera, on: loop, cancellation: cancellation, report: { _ in })
    }

    private func join(seesDetails: Bool = true) async throws -> ViewerDouble {
        let viewer = ViewerDouble(seesDetails: seesDetails)
        try await loop.executeInContext { [feed] in feed.join(viewer) }
        return viewer
    }

    private func publish(_ events: [FeedEvent]) async throws {
        try await loop.executeInContext { [feed] in events.forEach { feed.publish($0) } }
        await loop.run()
    }

    private let picture = FeedEvent.picture(
        LivePicture(form: .messages, bytes: ByteBuffer(string: "x"), isKeyframe: true))

    @Test("viewers of one camera are told causes or not, also those who come later")
    func causes() async throws {
        let (administrator, viewer) = (try await join(), try await join(seesDetails: false))
        try await publish([.status(.unavailable("127.0.0.1:1: connection refused"))])
        let late = try await join(seesDetails: false)
        let texts = try await loop.executeInContext {
            [administrator, viewer, late].compactMap(\.texts.last)
        }
        #expect(texts[0].contains("127.0.0.1:1: connection refused"))
        for text in texts[1...] { #expect(text == #"{"kind":"status","state":"unavailable"}"#) }
        await loop.shutdownGracefully()
    }

    @Test("a camera that sends without pause leaves turns to others")
    func rests() async throws {
        let viewer = try await join()
        func count() async throws -> Int { try await loop.executeInContext { viewer.pictures } }
        try await publish([picture])
        #expect(try await count() == 1)
        for _ in 0..<50 { try await publish([picture, picture]) }
        #expect(try await count() == 1)
        var counts: [Int] = []
        while let latest = Optional(try await count()), latest < 101 {
            await loop.advanceTime(by: .microseconds(500))
            counts.append(try await count())
            try #require(counts.count < 100)
        }
        #expect(counts == [17, 33, 49, 65, 81, 97, 101])
        await loop.shutdownGracefully()
    }

    @Test("a viewer learns since when its recorder has sent nothing")
    func silent() async throws {
        let first = try await join()
        await loop.advanceTime(by: .seconds(5))
        try await publish([.status(.live), picture])
        await loop.advanceTime(by: .seconds(12))
        let second = try await join()
        let (before, after) = try await loop.executeInContext { (first.texts, second.texts) }
        #expect(
            before == [
                #"{"age":0,"kind":"status","state":"connecting"}"#,
                #"{"age":5000,"kind":"status","state":"live"}"#,
            ])
        #expect(after == [#"{"age":12000,"kind":"status","state":"live"}"#])
        await loop.shutdownGracefully()
    }

    @Test("a viewer of a recorder that never sent anything learns since when it is awaited")
    func mute() async throws {
        await loop.advanceTime(by: .hours(1))
        _ = try await join()
        try await publish([.status(.waiting)])
        await loop.advanceTime(by: .seconds(12))
        let second = try await join()
        let texts = try await loop.executeInContext { second.texts }
        #expect(texts == [#"{"age":12000,"kind":"status","state":"waiting"}"#])
        await loop.shutdownGracefully()
    }

    @Test("a camera that goes disconnects its viewers")
    func end() async throws {
        let viewer = try await join()
        try await loop.executeInContext { [feed] in feed.end() }
        #expect(try await loop.executeInContext { viewer.isEnded })
        await loop.shutdownGracefully()
    }
}
