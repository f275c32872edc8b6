import CamNetworking
import CamPlatform
import Glibc
import NIOCore
import NIOEmbedded
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import CamWeb

@Suite("how a camera is", .hangGuard)
struct CameraFeedTests {
    private let folder = TemporaryFolder()

    private func watch(_ server: RunningServer) async throws -> (
        channel: any Channel, counts: ClientDouble.Counts
    ) {
        try await ClientDouble.connect(to: server.port, ClientDouble.watch("door", server.port))
    }

    @Test("a pause is seen, also by a page that is opened then", arguments: [true, false])
    func paused(hasSent: Bool) async throws {
        let stream = try EncodedStream(frames: 3)
        let recorder = try await RecorderDouble.listen(
            at: folder.path("live"), hasSent ? stream.bytes : [], pause: .hours(1))
        let control = try await ControlDouble.listen(
            at: folder.path("control"), answer: #"{"ok":true,"stats":{"state":"paused"}}"#)
        let camera = try #require(
            Camera("door=unix:\(folder.path("live")),control=\(folder.path("control"))"))
        let server = try RunningServer(.given([camera]))
        let first = try await watch(server)
        #expect(eventually { first.counts.text.contains(#""state":"paused""#) })
        let second = try await watch(server)
        #expect(eventually { second.counts.text.contains(#""state":"paused""#) })
        #expect(!second.counts.text.contains(#""state":"live""#))
        for channel in [recorder, control] { channel.close(promise: nil) }
    }

    @Test("the smaller stream has an address of its own, which cameras without one lack")
    func small() async throws {
        let whole = try await RecorderDouble.listen(
            at: folder.path("live"), EncodedStream(.hevc, frames: 3).bytes, pause: .hours(1))
        let small = try await RecorderDouble.listen(
            at: folder.path("small"), EncodedStream(.h264, frames: 3).bytes, pause: .hours(1))
        let cameras = [
            "door=unix:\(folder.path("live")),small=unix:\(folder.path("small"))",
            "gate=unix:\(folder.path("live"))",
        ]
        let server = try RunningServer(.given(try cameras.map { try #require(Camera($0)) }))
        for (name, codec) in [("door", "hev1"), ("door/small", "avc1"), ("gate", "hev1")] {
            let viewer = try await ClientDouble.connect(
                to: server.port, ClientDouble.watch(name, server.port))
            #expect(eventually { viewer.counts.text.contains(#""codec":"\#(codec)"#) }, "\(name)")
        }
        let none = try await ClientDouble.connect(
            to: server.port, ClientDouble.watch("gate/small", server.port))
        #expect(eventually { none.counts.text.contains("404") })
        let list = try await ClientDouble.connect(
            to: server.port, "GET /cameras.json HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        #expect(eventually { list.counts.isClosed.load(ordering: .relaxed) })
        #expect(list.counts.text.contains(#""name":"door","recorder":false,"recordings":false,"small":true"#))
        #expect(
            list.counts.text.contains(#""name":"gate","recorder":false,"recordings":false,"small":false"#))
        for channel in [whole, small] { channel.close(promise: nil) }
    }

    @Test("viewers of a camera whose settings change are disconnected, and find it again")
    func changed() async throws {
        let stream = try EncodedStream(frames: 3)
        let recorder = try await RecorderDouble.listen(
            at: folder.path("new"), stream.bytes, pause: .milliseconds(100))
        folder.write("door.conf", "listen = unix:\(folder.path("old"))\n")
        let server = try RunningServer(.settings(folder: folder.path))
        let list = "GET /cameras.json HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        func cameras() async throws -> String {
            let page = try await ClientDouble.connect(to: server.port, list)
            _ = eventually { page.counts.isClosed.load(ordering: .relaxed) }
            return page.counts.text
        }
        while try await !cameras().contains("door") {}
        let before = try await watch(server)
        #expect(eventually { before.counts.text.contains(#""state""#) })
        folder.write("door.conf", "listen = unix:\(folder.path("new"))\n")
        while !before.counts.isClosed.load(ordering: .relaxed) { _ = try await cameras() }
        let after = try await watch(server)
        #expect(eventually { after.counts.text.contains(#""state":"live""#) })
        recorder.close(promise: nil)
    }

    @Test("a recorder that gets a control socket while somebody watches keeps the catalog of its recordings")
    func catalog() async throws {
        let loop = NIOAsyncTestingEventLoop()
        let cancellation = try #require(CancellationFlag())
        mkdir(folder.path("rec"), 0o755)
        let catalogs = RecordingCatalogs(indexFolder: folder.path)
        func settings(_ control: String) throws -> Camera {
            var camera = try #require(Camera("door=unix:\(folder.path("live"))\(control)"))
            camera.recordings = RecordingsPlace(folder: folder.path("rec"))
            return camera
        }
        let found = Mutex(CameraSource.Found(cameras: [try settings("")]))
        let list = CameraList(
            .settings(folder: "/nowhere"), on: loop, report: { _ in },
            open: { (camera) throws(NetworkError) in
                try CameraFeed(
                    camera, on: loop, catalogs: catalogs, cancellation: cancellation, report: { _ in })
            },
            read: { found.withLock { $0 } })
        func feed(at now: NIODeadline) async throws -> CameraFeed? {
            let isDone = Atomic(false)
            try await loop.executeInContext {
                list.refresh(at: now).whenComplete { _ in isDone.store(true, ordering: .relaxed) }
            }
            while !isDone.load(ordering: .relaxed) { await loop.run() }
            return try await loop.executeInContext { list["door"] }
        }
        // A viewer keeps the feed, and with it the catalog.
        let watched = try #require(try await feed(at: .now()))
        let changed = try settings(",control=\(folder.path("control"))")
        found.withLock { $0 = CameraSource.Found(cameras: [changed]) }
        let after = try #require(try await feed(at: .distantFuture))
        #expect(after !== watched && after.camera.control != nil)
        let catalog = try #require(after.recordings)
        #expect(catalog === watched.recordings)
        _ = catalog.list(WallTime(seconds: 0)..<WallTime(seconds: 1), until: .distantFuture)
        #expect(catalog.isKept)
        cancellation.raise()
        await loop.shutdownGracefully()
    }
}
