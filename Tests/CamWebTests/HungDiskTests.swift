import CamNetworking
import CamPlatform
import Glibc
import NIOCore
import NIOEmbedded
import Synchronization
import TestSupport
import Testing

@testable import CamWeb

/// A disk that hangs delays neither the event loop nor other cameras.
@Suite("disks that hang", .hangGuard)
struct HungDiskTests {
    private let folder = TemporaryFolder()
    /// Its clock stands still unless the test advances it.
    private let loop = NIOAsyncTestingEventLoop()

    /// Whether a request was answered.
    private final class Answer: Sendable {
        private let state = Mutex(false)

        var isGiven: Bool { state.withLock { $0 } }
        func give() { state.withLock { $0 = true } }
    }

    @Test("the settings' folder: requests get the cameras known so far")
    func settings() async throws {
        let hang = Gate()
        let loop = loop
        let list = CameraList(
            .settings(folder: "/nowhere"), on: loop, report: { _ in },
            open: { (camera) throws(NetworkError) in throw NetworkError(.badPath, address: camera.name) },
            read: {
                hang.wait()
                return CameraSource.Found(cameras: [], emptiness: "none")
            })
        let (first, second) = (Answer(), Answer())
        try await loop.executeInContext { list.refresh().whenComplete { _ in first.give() } }
        await loop.run()
        #expect(!first.isGiven)
        await loop.advanceTime(by: .seconds(1))
        #expect(first.isGiven)
        #expect(try await loop.executeInContext { list.json } == "[]")
        // The second request does not wait at all.
        try await loop.executeInContext {
            list.refresh(at: .distantFuture).whenComplete { _ in second.give() }
        }
        await loop.run()
        #expect(second.isGiven)
        #expect(try await loop.executeInContext { list.headers(for: .nothing).isEmpty })
        hang.open()
        while try await loop.executeInContext({ list.headers(for: .nothing).isEmpty }) {}
        await loop.shutdownGracefully()
    }

    @Test("a camera's disk that /storage.json asks about: the others' figures come, and the camera is named")
    func storage() async throws {
        let hang = Gate()
        let (loop, cancellation) = (loop, try #require(CancellationFlag()))
        for name in ["hung", "fine"] { mkdir(folder.path(name), 0o755) }
        let feeds = try ["hung", "fine"].map { name in
            var camera = try #require(Camera("\(name)=unix:\(folder.path("live"))"))
            camera.recordings = RecordingsPlace(folder: folder.path(name))
            return try CameraFeed(camera, on: loop, cancellation: cancellation, report: { _ in })
        }
        let hungCatalog = try #require(feeds[0].recordings)
        let collector = try await loop.executeInContext {
            StorageCollector(on: loop) { catalog in
                if catalog === hungCatalog { hang.wait() }
                return StorageUsage(device: catalog === hungCatalog ? 1 : 2, total: 100, free: 7)
            }
        }
        func report(_ feeds: [CameraFeed]) async throws -> EventLoopFuture<String> {
            try await loop.executeInContext { collector.json(for: feeds, at: .distantFuture) }
        }
        let known = #"{"cameras":["fine"],"free":7,"total":100}"#
        let silent = #""name":"hung","outlook":{"kind":"unknown"},"silent":true"#
        #expect(try await report([feeds[1]]).get().contains(known))
        let first = try await report(feeds)
        await loop.advanceTime(by: .milliseconds(500))
        let text = try await first.get()
        #expect(text.contains(known) && text.contains(silent), "\(text)")
        // Later requests do not wait for that disk at all: no time goes by.
        #expect(try await report(feeds).get().contains(silent))
        hang.open()
        while try await report(feeds).get().contains("silent") {}
        cancellation.raise()
        await loop.shutdownGracefully()
    }

    @Test("one of the disks that /metrics asks about")
    func metrics() async throws {
        let hang = Gate()
        let loop = loop
        let collector = try await loop.executeInContext {
            MetricsCollector(on: loop) { folder in
                if folder == "/hung" { hang.wait() }
                return 7
            }
        }
        let hung = try await loop.executeInContext { collector.freeBytes(in: ["/hung"]) }
        #expect(try await loop.executeInContext { collector.freeBytes(in: ["/fine"]) }.get() == ["/fine": 7])
        await loop.advanceTime(by: .seconds(2))
        #expect(try await hung.get() == [:])
        // The next request does not wait for that disk at all.
        let both = try await loop.executeInContext { collector.freeBytes(in: ["/hung", "/fine"]) }
        #expect(try await both.get() == ["/fine": 7])
        hang.open()
        while try await loop.executeInContext({ collector.freeBytes(in: ["/hung"]) }).get().isEmpty {}
        await loop.shutdownGracefully()
    }
}
