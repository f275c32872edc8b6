import CamPlatform
import Glibc
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import CamWeb

/// Neither a browser that does not read nor a disk that hangs keeps others from recordings.
@Suite("who waits for recordings, and for whom", .hangGuard, .serialized)
struct RecordingWorkersTests {
    private let folder = TemporaryFolder()
    private let workers = RecordingWorkers(scratchFolder: "/tmp")
    private static let always = WallTime(seconds: 0)..<WallTime(seconds: 1 << 32)

    /// A browser that reads nothing.
    private final class Browser: Sendable {
        private let state = Mutex((hasAnswer: false, sink: ResponseSink?.none))

        /// Whether the response has begun.
        var hasAnswer: Bool { state.withLock { $0.hasAnswer } }

        func connect() -> ResponseSink {
            let sink = ResponseSink { [weak self] _ in self?.state.withLock { $0.hasAnswer = true } }
            state.withLock { $0.sink = sink }
            return sink
        }

        func leave() { state.withLock { $0.sink }?.close() }
    }

    /// A disk that hangs until the gate opens.
    private final class HungDisk: Sendable {
        let gate = Gate()
        private let count = Mutex(0)

        /// The number of threads that have tried to open a file.
        var openings: Int { count.withLock { $0 } }

        func open(
            _ file: RecordingFile, in folder: RecordingFolder
        ) throws(FileLocation.Failure) -> OpenRecording {
            count.withLock { $0 += 1 }
            gate.wait()
            return try file.open(in: folder)
        }
    }

    private func start(
        _ target: RecordingTarget, of camera: String = "door", _ catalog: RecordingCatalog,
        from address: String = "192.0.2.1"
    ) throws(Refusal) -> Browser {
        let browser = Browser()
        let request = RecordingRequest(
            camera: camera, catalog: catalog, target: target, rights: Rights(nil), authority: "localhost",
            range: nil, condition: nil)
        try workers.start(request, from: ClientAddress(address), browser.connect())
        return browser
    }

    /// A recording with more bytes than wait for a browser in memory.
    init() throws {
        mkdir(folder.path("rec"), 0o755)
        let stream = try EncodedStream().bytes
        folder.write("rec/a.h264", Array(repeatElement(stream, count: (700 << 10) / stream.count).joined()))
    }

    /// A camera with the recording, and the recording's number.
    private func camera(on disk: HungDisk? = nil) throws -> (catalog: RecordingCatalog, id: UInt64) {
        let catalog = RecordingCatalog(
            RecordingsPlace(folder: folder.path("rec")),
            openFile: { (file, folder) throws(FileLocation.Failure) in
                if let disk { return try disk.open(file, in: folder) }
                return try file.open(in: folder)
            })
        let listing = catalog.list(Self.always, until: .distantFuture)
        return (catalog, try #require(listing.segments.first?.id, "\(listing)"))
    }

    @Test("pieces and files that nobody reads hold up no others, however many they are")
    func unreadPieces() throws {
        let (catalog, id) = try camera()
        for target in [RecordingTarget.piece(id, at: .zero, length: .seconds(600)), .file(id)] {
            var browsers: [Browser] = []
            for _ in 0..<20 { browsers.append(try start(target, catalog)) }
            #expect(eventually { browsers.allSatisfy(\.hasAnswer) })
            let other = try start(target, catalog, from: "192.0.2.2")
            #expect(eventually { other.hasAnswer })
            for browser in browsers + [other] { browser.leave() }
        }
    }

    @Test("long lists that an address does not read hold up nobody else's, and few of them are in memory")
    func unreadLists() throws {
        let stream = try EncodedStream(frames: 1).bytes
        // Long paths make a list that is larger than what waits for a browser.
        var path = "."
        for letter in "abcd" {
            path += "/" + String(repeating: letter, count: 240)
            mkdir(folder.path(path), 0o755)
        }
        for number in 0..<600 { folder.write("\(path)/\(number).h264", stream) }
        let catalog = RecordingCatalog(RecordingsPlace(folder: folder.path))
        #expect(catalog.list(Self.always, until: .distantFuture).segments.count == 601)
        let browsers = try (0..<9).map { _ in try start(.list(Self.always), catalog) }
        let other = try start(.list(Self.always), catalog, from: "192.0.2.2")
        #expect(eventually { other.hasAnswer && browsers.count(where: \.hasAnswer) == 8 })
        // The ninth comes once another is read or given up.
        browsers.first { $0.hasAnswer }?.leave()
        #expect(eventually { browsers.allSatisfy(\.hasAnswer) })
        for browser in browsers + [other] { browser.leave() }
    }

    @Test("a camera whose disk hangs takes no other camera's turns")
    func turns() throws {
        let disk = HungDisk()
        let ((catalog, id), (hung, hungID)) = (try camera(), try camera(on: disk))
        func piece(_ id: UInt64) -> RecordingTarget { .piece(id, at: .zero, length: .seconds(600)) }
        let waiting = try (0..<20).map { _ in try start(piece(hungID), of: "hung", hung) }
        #expect(eventually { disk.openings == 16 })
        let fine = try start(piece(id), catalog)
        #expect(eventually { fine.hasAnswer })
        #expect(disk.openings == 16)
        disk.gate.open()
        #expect(eventually { waiting.allSatisfy(\.hasAnswer) })
        for browser in waiting + [fine] { browser.leave() }
    }

    @Test(
        "requests that an address gave up on a hung disk leave its places and no threads but those that hang")
    func givenUp() throws {
        let disk = HungDisk()
        let ((catalog, id), (hung, hungID)) = (try camera(), try camera(on: disk))
        for number in 0..<200 {
            let browser = try start(.file(hungID), of: "hung", hung)
            #expect(eventually { disk.openings == min(number + 1, 16) })
            browser.leave()
            // The thread of one that waits for its turn ends.
            #expect(eventually { workers.threadCount <= 16 })
        }
        // Nor do those of several cameras on the disk, whose threads cannot end.
        for number in 0..<8 {
            let waiting = try (0..<16).map { _ in try start(.file(hungID), of: "hung \(number)", hung) }
            #expect(eventually { disk.openings == 16 * (number + 2) })
            for browser in waiting { browser.leave() }
        }
        let fine = try start(.file(id), catalog)
        #expect(eventually { fine.hasAnswer })
        fine.leave()
        disk.gate.open()
        #expect(eventually { workers.threadCount == 0 })
    }

    @Test(
        "an address that waits for a hung disk with all requests of a camera has places for the other cameras"
    )
    func places() throws {
        let disk = HungDisk()
        let ((catalog, id), (hung, hungID)) = (try camera(), try camera(on: disk))
        let waiting = try (0..<64).map { _ in try start(.file(hungID), of: "hung", hung) }
        #expect(throws: Refusal.busyCamera) { try start(.file(hungID), of: "hung", hung) }
        let fine = try (0..<64).map { _ in try start(.file(id), catalog) }
        #expect(eventually { fine.allSatisfy(\.hasAnswer) })
        #expect(throws: Refusal.busy) { try start(.file(id), of: "third", catalog) }
        disk.gate.open()
        for browser in waiting + fine { browser.leave() }
    }
}
