import CamPlatform
import Glibc
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@testable import CamWeb

@Suite("downloads of recordings")
struct RecordingDownloadTests {
    private let folder = TemporaryFolder()
    private let catalog: RecordingCatalog
    private let workers: RecordingWorkers
    private static let start = 1_700_000_000

    init() throws {
        mkdir(folder.path("rec"), 0o755)
        let stream = try EncodedStream().bytes
        // The third begins half a minute later than it should.
        for (name, end) in [("a", 0), ("b", 1), ("c", 31)] {
            folder.write("rec/\(name).h264", stream)
            let time = timespec(tv_sec: Self.start + end, tv_nsec: 0)
            utimensat(AT_FDCWD, folder.path("rec/\(name).h264"), [time, time], 0)
        }
        catalog = RecordingCatalog(RecordingsPlace(folder: folder.path("rec")))
        workers = RecordingWorkers(scratchFolder: folder.path("."))
    }

    private static let time =
        WallTime(seconds: start - 1)..<WallTime(seconds: start + 32)

    /// A browser.
    private final class Browser: @unchecked Sendable {
        // Safe to share: all mutable state is accessed with the monitor's lock held.
        private let monitor = Monitor()
        private var head: (HTTPResponseStatus, HTTPHeaders)?
        private var bytes: [UInt8] = []
        private var isOver = false
        private let reads: Bool
        private var sink: ResponseSink?

        init(reads: Bool = true) { self.reads = reads }

        func open() -> ResponseSink {
            let sink = ResponseSink { [self] part in take(part) }
            monitor.withLock { self.sink = sink }
            return sink
        }

        private func take(_ part: ResponseSink.Part) {
            let taken = monitor.withLock {
                defer { monitor.signal() }
                switch part {
                case .head(let status, let headers): head = (status, headers)
                case .body(let buffer):
                    if reads {
                        bytes += Array(buffer.readableBytesView)
                        return buffer.readableBytes
                    }
                case .end, .abort: isOver = true
                }
                return 0
            }
            if taken > 0 { monitor.withLock { sink }?.noteSent(taken) }
        }

        func leave() { monitor.withLock { sink }?.close() }

        /// Waits for the end of the response.
        var response: (status: HTTPResponseStatus, headers: HTTPHeaders, bytes: [UInt8])? {
            let deadline = Instant.now + .seconds(30)
            return monitor.withLock {
                while !isOver, Instant.now < deadline { monitor.wait(until: deadline) }
                guard isOver, let head else { return nil }
                return (head.0, head.1, bytes)
            }
        }

        var hasHead: Bool { monitor.withLock { head != nil } }
    }

    private func ask(
        _ target: RecordingTarget, range: String? = nil, condition: String? = nil, isHead: Bool = false,
        address: String = "127.0.0.1", as browser: Browser = Browser()
    ) throws -> Browser {
        let request = RecordingRequest(
            camera: "door", catalog: catalog, target: target, rights: Rights(nil), authority: "localhost",
            range: range, condition: condition, isHead: isHead)
        try workers.start(request, from: ClientAddress(address), browser.open())
        return browser
    }

    @Test("a span is made once, says its gaps, and can be continued")
    func continued() throws {
        let whole = try #require(try ask(.span(Self.time)).response)
        #expect(whole.status == .ok && whole.headers["accept-ranges"] == ["bytes"])
        #expect(whole.headers["content-length"] == ["\(whole.bytes.count)"])
        // Hardly anything is missing before the first one, and behind the last.
        #expect(whole.headers["camweb-holes"] == ["1"])
        let missing = try #require(whole.headers["camweb-missing"].first.flatMap { Int($0) })
        #expect((29_000...31_000).contains(missing))
        let tag = try #require(whole.headers["etag"].first)
        let part = try #require(
            try ask(.span(Self.time), range: "bytes=100-", condition: tag).response)
        #expect(part.status == .partialContent && part.bytes == Array(whole.bytes[100...]))
        let head = try #require(try ask(.span(Self.time), isHead: true).response)
        #expect(head.bytes.isEmpty && head.headers["content-length"] == ["\(whole.bytes.count)"])
    }

    @Test("what lies ahead is no gap, nor is what a recorder has not written yet")
    func ahead() throws {
        let listing = catalog.list(Self.time, until: .distantFuture)
        let last = try #require(listing.segments.last)
        let future = Self.time.lowerBound..<WallTime(seconds: Self.start + 1_000_000)
        func gaps(_ segments: [Segment], now: Int) -> Int {
            SpanJob.gaps(between: segments, in: future, now: WallTime(seconds: Self.start + now)).count
        }
        #expect(gaps(listing.segments, now: 32) == 1)
        #expect(gaps(listing.segments, now: 100) == 2)
        let growing = Segment(
            id: last.id, file: last.file, probe: RecordingProbe(time: last.time, isGrowing: true),
            isEvent: false)
        #expect(gaps(listing.segments.dropLast() + [growing], now: 100) == 1)
    }

    @Test("the headers of a download take no making and no reading")
    func head() throws {
        let head = try #require(try ask(.span(Self.time), isHead: true).response)
        #expect(head.status == .ok && head.bytes.isEmpty && head.headers["camweb-holes"] == ["1"])
        let listing = catalog.list(Self.time, until: .distantFuture)
        let id = try #require(listing.segments.first?.id)
        truncate(folder.path("rec/\(listing.segments[0].file.name)"), 20 << 30)
        let file = try #require(try ask(.file(id), isHead: true).response)
        #expect(file.bytes.isEmpty && file.headers["content-length"] == ["\(20 << 30)"])
    }

    @Test("60 downloads at once all come")
    func many() throws {
        let browsers = try (0..<60).map { number in
            try ask(.span(Self.time.lowerBound..<WallTime(seconds: Self.start + 2 + number % 20)))
        }
        for browser in browsers {
            let response = try #require(browser.response)
            #expect(response.status == .ok && !response.bytes.isEmpty)
        }
    }

    @Test("browsers that do not read delay no other download, and each address has a limit")
    func slow() throws {
        let last = try #require(catalog.list(Self.time, until: .distantFuture).segments.last)
        // More than waits for a browser in memory.
        truncate(folder.path("rec/\(last.file.name)"), 8 << 20)
        let slow = try (0..<64).map { _ in try ask(.file(last.id), as: Browser(reads: false)) }
        #expect(eventually { slow.allSatisfy(\.hasHead) })
        #expect(throws: Refusal.busyCamera) { try ask(.span(Self.time)) }
        let other = WallTime(seconds: Self.start - 1)..<WallTime(seconds: Self.start + 1)
        #expect(try ask(.span(other), address: "127.0.0.2").response?.status == .ok)
        for browser in slow { browser.leave() }
    }

    @Test("a browser is cut off if it reads less than 8 kB a second, however the system portions it")
    func pace() {
        let begin = NIODeadline.now()
        var pace = ReadingPace()
        pace.begin(at: begin)
        #expect(pace.deadline == begin + .seconds(120))
        // 375 kB each 46 seconds, because the window opens so late.
        var now = begin
        for _ in 0..<100 {
            now = now + .seconds(46)
            #expect(now < pace.deadline)
            pace.note(375_000, at: now)
        }
        // Half of that.
        var isCut = false
        for _ in 0..<10 where !isCut {
            now = now + .seconds(46)
            isCut = now >= pace.deadline
            pace.note(184_000, at: now)
        }
        #expect(isCut)
    }
}
