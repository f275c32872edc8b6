import CamPlatform
import Glibc
import TestSupport
import Testing

@testable import CamWeb

@Suite("lists of recordings")
struct RecordingCatalogTests {
    private let folder = TemporaryFolder()
    private let stream: [UInt8]
    private static let always = WallTime(seconds: 0)..<WallTime(seconds: 1 << 32)

    init() throws { stream = try EncodedStream().bytes }

    private func catalog() -> RecordingCatalog {
        RecordingCatalog(RecordingsPlace(folder: folder.path("rec")))
    }

    private func list(
        _ catalog: RecordingCatalog, _ time: Range<WallTime> = always
    ) -> RecordingCatalog.Listing { catalog.list(time, until: .distantFuture) }

    private func make(_ path: String) { mkdir(folder.path(path), 0o755) }

    /// Sets when a file was last written.
    private func stamp(_ name: String, _ seconds: Int) {
        let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
        utimensat(AT_FDCWD, folder.path(name), times, 0)
    }

    @Test("recordings in order, with numbers that stay theirs")
    func found() throws {
        make("rec")
        make("rec/day")
        folder.write("rec/day/late.h264", stream)
        folder.write("rec/early.h264", stream)
        // Before its birth: then its pictures' number says how long it is.
        stamp("rec/early.h264", 1_000_000)
        let catalog = catalog()
        let listing = list(catalog)
        #expect(listing.segments.map(\.file.name) == ["early.h264", "day/late.h264"])
        #expect(listing.problems.isEmpty && listing.isComplete)
        let early = try #require(listing.segments.first)
        // 20 pictures at 30 a second, or at 25 if the stream does not say.
        #expect(early.time.upperBound == WallTime(seconds: 1_000_000))
        #expect((0.6...0.81).contains((early.time.upperBound - early.time.lowerBound) / .seconds(1)))
        #expect(!early.isEvent && !early.probe.isGrowing)
        #expect(list(catalog).segments.map(\.id) == listing.segments.map(\.id))
        let part = list(catalog, WallTime(seconds: 0)..<WallTime(seconds: 1_000_001))
        #expect(part.segments == [early])
        #expect(try catalog.open(early.id).recording.size == stream.count)
    }

    @Test(
        "a file may claim any year", arguments: [-9_000_000_000, -1, 9_223_372_037, 13_569_465_600])
    func anyYear(seconds: Int) {
        make("rec")
        folder.write("rec/a.h264", stream)
        stamp("rec/a.h264", seconds)
        #expect(list(catalog()).isComplete)
        var status = stat()
        for seconds in [seconds, .max, .min] {
            (status.st_mtim.tv_sec, status.st_mtim.tv_nsec) = (seconds, 999_999_999)
            #expect(RecordingFile(path: ["a"], status).modification.seconds.signum() == seconds.signum())
        }
    }

    @Test("a pipe or a device is never opened as a recording, even with the inode of one")
    func reusedInode() {
        mkfifo(folder.path("pipe"), 0o600)
        var status = stat()
        #expect(stat(folder.path("pipe"), &status) == 0)
        let descriptor = open(folder.path("."), O_RDONLY | O_DIRECTORY)
        defer { close(descriptor) }
        #expect(RecordingFile(path: ["pipe"], status).open(in: descriptor) == nil)
    }

    @Test("links, other files and folders that are too deep are not recordings")
    func others() {
        make("rec")
        folder.write("secret.h264", stream)
        symlink(folder.path("secret.h264"), folder.path("rec/link.h264"))
        symlink(folder.path("."), folder.path("rec/loop"))
        mkfifo(folder.path("rec/pipe.h264"), 0o600)
        folder.write("rec/.hidden.h264", stream)
        folder.write("rec/notes.txt", "notes")
        var path = "rec"
        for name in ["1", "2", "3", "4", "5"] {
            path += "/\(name)"
            make(path)
        }
        folder.write("\(path)/deep.h264", stream)
        let listing = list(catalog())
        #expect(listing.segments.isEmpty && listing.problems.isEmpty)
    }

    @Test("a damaged or foreign file is a problem, and hides no other")
    func damaged() {
        make("rec")
        folder.write("rec/a.h264", stream)
        folder.write("rec/noise.mkv", [UInt8](repeating: 0x5A, count: 100_000))
        folder.write("rec/head.mp4", [0, 0, 0, 16] + Array("ftypisom".utf8) + [0, 0, 0, 0])
        folder.write("rec/empty.mkv", "")
        let listing = list(catalog())
        #expect(listing.segments.map(\.file.name) == ["a.h264"])
        #expect(Set(listing.problems.map(\.name)) == ["noise.mkv", "head.mp4", "empty.mkv"])
    }

    @Test("a file that is removed, or replaced by another or by a link, is gone")
    func replaced() throws {
        make("rec")
        make("rec/day")
        folder.write("secret.h264", stream)
        for name in ["removed", "replaced", "linked", "day/within"] {
            folder.write("rec/\(name).h264", stream)
        }
        let catalog = catalog()
        let segments = list(catalog).segments
        try #require(segments.count == 4)
        unlink(folder.path("rec/removed.h264"))
        folder.write("rec/new", stream)
        rename(folder.path("rec/new"), folder.path("rec/replaced.h264"))
        unlink(folder.path("rec/linked.h264"))
        symlink(folder.path("secret.h264"), folder.path("rec/linked.h264"))
        rename(folder.path("rec/day"), folder.path("moved"))
        symlink(folder.path("moved"), folder.path("rec/day"))
        for segment in segments {
            #expect(throws: Refusal.noSegment, "\(segment.file.name)") { try catalog.open(segment.id) }
        }
        #expect(list(catalog).segments.map(\.file.name) == ["replaced.h264"])
        #expect(throws: Refusal.noSegment) { try catalog.open(5) }
    }

    @Test("a folder that is not there yet, and one that is replaced")
    func comesAndGoes() {
        let catalog = catalog()
        #expect(list(catalog).problems.map(\.reason) == ["No such file or directory"])
        make("rec")
        folder.write("rec/a.h264", stream)
        #expect(list(catalog).segments.count == 1)
        unlink(folder.path("rec/a.h264"))
        rmdir(folder.path("rec"))
        make("rec")
        folder.write("rec/b.h264", stream)
        #expect(list(catalog).segments.map(\.file.name) == ["b.h264"])
    }

    @Test("a file that a recorder writes is growing")
    func growing() throws {
        make("rec")
        folder.write("rec/a.h264", stream)
        let writer = open(folder.path("rec/a.h264"), O_WRONLY)
        try #require(WriteLock.acquire(writer))
        let catalog = catalog()
        #expect(list(catalog).segments.map(\.probe.isGrowing) == [true])
        close(writer)
        #expect(list(catalog).segments.map(\.probe.isGrowing) == [false])
    }

    @Test("without time, the list says that it is not complete")
    func late() {
        make("rec")
        folder.write("rec/a.h264", stream)
        let listing = catalog().list(Self.always, until: .now)
        #expect(!listing.isComplete && listing.segments.isEmpty)
    }
}
