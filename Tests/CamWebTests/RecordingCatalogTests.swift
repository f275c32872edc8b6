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
        stamp("rec/early.h264", 1_000_000_000)
        let catalog = catalog()
        let listing = list(catalog)
        #expect(listing.segments.map(\.file.name) == ["early.h264", "day/late.h264"])
        #expect(listing.problems.isEmpty && listing.isComplete)
        let early = try #require(listing.segments.first)
        // 20 pictures at 30 a second, or at 25 if the stream does not say.
        #expect(early.time.upperBound == WallTime(seconds: 1_000_000_000))
        #expect((0.6...0.81).contains((early.time.upperBound - early.time.lowerBound) / .seconds(1)))
        #expect(!early.isEvent && !early.probe.isGrowing)
        #expect(list(catalog).segments.map(\.id) == listing.segments.map(\.id))
        let part = list(catalog, WallTime(seconds: 0)..<WallTime(seconds: 1_000_000_001))
        #expect(part.segments == [early])
        #expect(try catalog.open(early.id).recording.size == stream.count)
    }

    @Test("a recording has a path for the recorder, and back; no name leads out of the folder")
    func paths() throws {
        make("rec")
        symlink(folder.path("rec"), folder.path("link"))
        let catalog = RecordingCatalog(RecordingsPlace(folder: folder.path("link")))
        _ = list(catalog)
        let root = try #require(Folder.absolute(folder.path("rec")))
        #expect(catalog.path(of: "day/a.mkv") == root + "/day/a.mkv")
        #expect(catalog.name(of: root + "/day/a.mkv") == "day/a.mkv")
        #expect(catalog.name(of: root + "2/a.mkv") == nil)
        for name in [
            "../a.mkv", "day/../../a.mkv", "/a.mkv", "day//a.mkv", "./a.mkv", "a.txt", "a\nb.mkv", "",
            "a\t.mkv",
        ] {
            #expect(catalog.path(of: name) == nil, "\(name)")
        }
        #expect(RecordingCatalog(RecordingsPlace(folder: folder.path("none"))).path(of: "a.mkv") == nil)
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

    @Test("a name that is not UTF-8 is a problem; the others are listed")
    func foreignName() {
        make("rec")
        folder.write("rec/a.h264", stream)
        let path = Array("\(folder.path("rec"))/b".utf8) + [0xFF, 0x5C] + Array(".h264".utf8) + [0]
        let name = path.map { CChar(truncatingIfNeeded: $0) }
        close(open(name, O_WRONLY | O_CREAT, 0o600))
        defer { unlink(name) }
        let listing = list(catalog())
        #expect(listing.segments.map(\.file.name) == ["a.h264"])
        #expect(
            listing.problems == [
                RecordingProblem(name: #"b\xff\x5c.h264"#, reason: "its name is not UTF-8; rename it")
            ])
    }

    @Test(
        "a name that is not UTF-8 and comes or goes later is listed and not listed; one that is no recording never is"
    )
    func changedForeignName() {
        make("rec")
        func path(_ place: String, _ end: String) -> [CChar] {
            (Array("\(folder.path("rec"))/\(place)".utf8) + [0xE9] + Array(end.utf8) + [0]).map {
                CChar(truncatingIfNeeded: $0)
            }
        }
        func create(_ path: [CChar]) { close(open(path, O_WRONLY | O_CREAT, 0o600)) }
        create(path("note", ".txt"))
        let catalog = catalog()
        func problems() -> [String] { list(catalog).problems.map(\.name).sorted() }
        #expect(problems().isEmpty)
        create(path("", ".h264"))
        create(path("late", ".txt"))
        create(path(".hidden", ".h264"))
        mkdir(path("folder", ""), 0o755)
        #expect(problems() == [#"\xe9.h264"#, #"folder\xe9"#])
        unlink(path("", ".h264"))
        #expect(problems() == [#"folder\xe9"#])
        rmdir(path("folder", ""))
        // Those in a new folder are found, and go with it.
        mkdir(folder.path("rec/day"), 0o755)
        create(path("day/a", ".h264"))
        #expect(problems() == [#"day/a\xe9.h264"#])
        rename(folder.path("rec/day"), folder.path("elsewhere"))
        #expect(problems().isEmpty)
        for name in [path("note", ".txt"), path("late", ".txt"), path(".hidden", ".h264")] { unlink(name) }
        rename(folder.path("elsewhere"), folder.path("rec/day"))
        unlink(path("day/a", ".h264"))
    }

    @Test("a file that is mostly a hole is a problem, and no part of a download; a small hole is none")
    func hole() {
        make("rec")
        for name in ["a", "b", "c"] { folder.write("rec/\(name).h264", stream) }
        #expect(truncate(folder.path("rec/b.h264"), 1 << 40) == 0)
        let descriptor = open(folder.path("rec/c.h264"), O_WRONLY)
        #expect(pwrite(descriptor, [0], 1, 1 << 20) == 1)
        close(descriptor)
        let listing = list(catalog())
        #expect(listing.segments.map(\.file.name).sorted() == ["a.h264", "c.h264"])
        #expect(listing.problems.map(\.name) == ["b.h264"])
        #expect(listing.problems.first?.reason.contains("1023 GB of it are a hole") == true)
    }

    @Test("a pipe or a device is never opened as a recording, even with the inode of one")
    func reusedInode() throws {
        mkfifo(folder.path("pipe"), 0o600)
        var status = stat()
        #expect(stat(folder.path("pipe"), &status) == 0)
        let opened = try RecordingFolder(path: folder.path("."))
        #expect(throws: FileLocation.Failure(errno: ENOENT)) {
            try RecordingFile(path: ["pipe"], status).open(in: opened)
        }
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

    /// Makes a folder with copies of the shortest recording, each ten seconds after the one before.
    private func fill(_ count: Int) throws {
        let short = try EncodedStream(frames: 1, keyframeInterval: 1).bytes
        make("rec")
        for number in 0..<count {
            // No order of names is that of times.
            let name = "rec/\(number % 7)-\(number).h264"
            folder.write(name, short)
            stamp(name, 1_000_000_000 + 10 * number)
        }
    }

    @Test("each of 12,000 recordings is listed, in the newest hour and in an old one")
    func many() throws {
        try fill(12_000)
        let catalog = catalog()
        for end in [1_000_119_995, 1_000_039_995] {
            let hour = WallTime(seconds: end - 3600)..<WallTime(seconds: end)
            #expect(list(catalog, hour).segments.count == 360)
        }
        let all = list(catalog)
        #expect(all.segments.isEmpty && all.isComplete && all.progress == nil)
        #expect(all.runs?.reduce(0) { $0 + $1.count } == 12_000)
        #expect(catalog.list(Self.always, most: 12_000, until: .distantFuture).segments.count == 12_000)
        #expect(all.problems.isEmpty)
    }

    @Test("files with wrong dates are listed, and stretch nothing")
    func wrongDates() throws {
        make("rec")
        for (name, seconds) in [("old", 1000), ("good", 1_700_000_000), ("future", 2_145_916_800)] {
            folder.write("rec/\(name).h264", stream)
            stamp("rec/\(name).h264", seconds)
        }
        let catalog = catalog()
        let listing = list(catalog)
        #expect(Set(listing.segments.map(\.file.name)) == ["old.h264", "good.h264", "future.h264"])
        let extent = try #require(listing.extent)
        #expect(extent.lowerBound >= WallTime(seconds: 1_699_999_000))
        #expect(extent.upperBound == WallTime(seconds: 1_700_000_000))
        let old = try #require(listing.problems.first { $0.name == "old.h264" })
        #expect(old.reason.contains("1970-01-01"))
        #expect(try catalog.open(#require(old.id.flatMap { UInt64($0) })).segment.file.name == "old.h264")
    }

    @Test("without time, the list says that it is not complete")
    func late() {
        make("rec")
        folder.write("rec/a.h264", stream)
        let listing = catalog().list(Self.always, until: .now)
        #expect(!listing.isComplete && listing.segments.isEmpty)
    }
}
