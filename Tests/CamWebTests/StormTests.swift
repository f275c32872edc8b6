import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import CamWeb

/// A peer that sends one kind of message as fast as it can delays neither other cameras nor other clients.
@Suite("peers that send as fast as they can", .hangGuard, .serialized)
struct StormTests {
    private let folder = TemporaryFolder()

    /// A calm camera, `calm`, beside one whose recorder sends these bytes without pause, `storm`.
    private func cameras(_ storm: [UInt8]) async throws -> (source: CameraSource, recorders: [any Channel]) {
        let calm = try EncodedStream(frames: 2, keyframeInterval: 1)
        let recorders = [
            try await RecorderDouble.listen(
                at: folder.path("calm"), calm.bytes, pause: .milliseconds(50)),
            try await RecorderDouble.listen(at: folder.path("storm"), storm),
        ]
        let cameras = ["calm", "storm"].compactMap { Camera("\($0)=unix:\(folder.path($0))") }
        return (.given(cameras), recorders)
    }

    /// Watches both cameras, the storm with six viewers, until the page was asked for often enough and the calm camera
    /// has shown enough. What takes half a minute has failed; all else is counted.
    private func endure(
        _ source: CameraSource, _ recorders: [any Channel], watch: (Int) -> String, flood: [UInt8] = []
    ) async throws {
        let server = try RunningServer(source)
        let calm = try await ClientDouble.connect(
            to: server.port, ClientDouble.watch("calm", server.port))
        func calmGets(_ count: Int) -> Bool {
            let goal = calm.counts.bytes.load(ordering: .relaxed) + count
            return eventually { calm.counts.bytes.load(ordering: .relaxed) >= goal }
        }
        try #require(calmGets(10_000))
        var viewers: [(channel: any Channel, counts: ClientDouble.Counts)] = []
        for _ in 0..<6 {
            viewers.append(
                try await ClientDouble.connect(to: server.port, watch(server.port), flood: flood))
        }
        for viewer in viewers {
            #expect(
                eventually { viewer.counts.bytes.load(ordering: .relaxed) > 1000 },
                "a viewer of the storm has nothing")
        }
        for _ in 0..<4 {
            let page = try await ClientDouble.connect(
                to: server.port, "GET /cameras.json HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            try #require(
                eventually { page.counts.isClosed.load(ordering: .relaxed) }, "the page is not answered")
            try #require(page.counts.text.contains(" 200 "))
            try #require(calmGets(10_000), "the calm camera is silent")
        }
        for viewer in viewers + [calm] { viewer.channel.close(promise: nil) }
        for recorder in recorders { recorder.close(promise: nil) }
    }

    @Test("a recorder whose parameter sets change with each picture")
    func formats() async throws {
        let one = try EncodedStream(frames: 2, keyframeInterval: 1)
        let other = try EncodedStream(frames: 6, keyframeInterval: 3, bFrames: 2)
        let pair = one.packets[0] + other.packets[0]
        let (source, recorders) = try await cameras(Array(repeatElement(pair, count: 20).joined()))
        try await endure(source, recorders) { ClientDouble.watch("storm", $0) }
    }

    @Test("a recorder that sends pictures without pause", arguments: ["", ".ts", ".mp4"])
    func pictures(form: String) async throws {
        let stream = try EncodedStream(frames: 20, keyframeInterval: 1)
        let (source, recorders) = try await cameras(stream.bytes)
        try await endure(source, recorders) { port in
            form.isEmpty
                ? ClientDouble.watch("storm", port)
                : "GET /live/storm\(form) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
        }
    }

    @Test(
        "browsers that send pings, texts and empty frames without pause",
        arguments: [0x89, 0x81, 0x82] as [UInt8])
    func frames(operation: UInt8) async throws {
        let stream = try EncodedStream(frames: 20, keyframeInterval: 10)
        let (source, recorders) = try await cameras(stream.bytes)
        let frame: [UInt8] = [operation, 0x80, 1, 2, 3, 4]
        try await endure(
            source, recorders, watch: { ClientDouble.watch("calm", $0) },
            flood: Array(repeatElement(frame, count: 10_000).joined()))
    }

    @Test("clients that send requests without pause", arguments: ["/cameras.json", "/page.css", "/metrics"])
    func requests(path: String) async throws {
        let (source, recorders) = try await cameras([])
        let request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        try await endure(
            source, recorders, watch: { _ in request },
            flood: Array(repeatElement(Array(request.utf8), count: 100).joined()))
    }
}
