import CamPlatform
import Containers
import Glibc
import TestSupport
import Testing

@testable import CamWeb

@Suite("indexes of recordings")
struct RecordingIndexTests {
    private let folder = TemporaryFolder()
    private let stream: [UInt8]
    private static let always = WallTime(seconds: 0)..<WallTime(seconds: 1 << 32)

    init() throws {
        stream = try EncodedStream(frames: 2).bytes
        mkdir(folder.path("rec"), 0o755)
        mkdir(folder.path("cache"), 0o700)
    }

    private var place: RecordingsPlace { RecordingsPlace(folder: folder.path("rec")) }

    private func names(_ catalog: RecordingCatalog) -> [String] {
        catalog.list(Self.always, until: .distantFuture).segments.map(\.file.name).sorted()
    }

    private func catalog() -> RecordingCatalog {
        RecordingCatalog(place, indexFolder: folder.path("cache"))
    }

    /// The index's file.
    private func indexFile() throws -> String {
        let found = try #require(Folder.names(in: folder.path("cache")).first { $0.hasSuffix(".index") })
        return folder.path("cache/\(found)")
    }

    /// Waits until no thread of an earlier catalog uses the index.
    private func isFree() -> Bool { eventually { index(in: folder.path("cache")).isKept } }

    private func index(in folder: String?) -> RecordingIndex {
        let index = RecordingIndex(place, in: folder)
        index.open()
        return index
    }

    @Test("a later run knows the recordings and their numbers, and learns what changed meanwhile")
    func kept() throws {
        for name in ["a", "b", "c"] { folder.write("rec/\(name).h264", stream) }
        var before: [Segment] = []
        do {
            let catalog = catalog()
            before = catalog.list(Self.always, until: .distantFuture).segments
            #expect(before.count == 3)
        }
        try #require(isFree())
        do {
            let index = index(in: folder.path("cache"))
            #expect(index.recorded(in: Self.always, most: 10)?.count == 3)
        }
        unlink(folder.path("rec/b.h264"))
        folder.write("rec/d.h264", stream)
        let catalog = catalog()
        #expect(names(catalog) == ["a.h264", "c.h264", "d.h264"])
        for segment in before where segment.file.name != "b.h264" {
            #expect(try catalog.open(segment.id).segment.file == segment.file)
        }
        let removed = try #require(before.first { $0.file.name == "b.h264" })
        #expect(throws: Refusal.noSegment) { try catalog.open(removed.id) }
    }

    @Test("a damaged index is made again", arguments: [0, 100, 5000])
    func damaged(offset: Int) throws {
        folder.write("rec/a.h264", stream)
        do { #expect(names(catalog()) == ["a.h264"]) }
        try #require(isFree())
        let file = open(try indexFile(), O_WRONLY)
        let noise = [UInt8](repeating: 0xA5, count: 60_000)
        pwrite(file, noise, noise.count, off_t(offset))
        close(file)
        do {
            let catalog = catalog()
            #expect(names(catalog) == ["a.h264"])
            folder.write("rec/b.h264", stream)
            #expect(names(catalog) == ["a.h264", "b.h264"])
        }
        try #require(isFree())
        #expect(index(in: folder.path("cache")).recorded(in: Self.always, most: 10)?.count == 2)
    }

    @Test("an index with numbers that camweb never gives is made again")
    func numbered() throws {
        folder.write("rec/a.h264", stream)
        do { #expect(names(catalog()) == ["a.h264"]) }
        try #require(isFree())
        do { try Database(path: try indexFile()).execute("UPDATE file SET id = -id") }
        #expect(names(catalog()) == ["a.h264"])
    }

    @Test("a file that a program writes without a recorder's lock grows in the list")
    func fresh() throws {
        folder.write("rec/a.h264", stream)
        let catalog = catalog()
        #expect(names(catalog) == ["a.h264"])
        let file = open(folder.path("rec/a.h264"), O_WRONLY | O_APPEND)
        defer { close(file) }
        #expect(write(file, stream, stream.count) == stream.count)
        let segments = catalog.list(Self.always, until: .distantFuture).segments
        #expect(segments.map(\.file.size) == [2 * stream.count])
    }

    @Test("an index that another process uses, or that cannot be written, is done without")
    func unusable() throws {
        folder.write("rec/a.h264", stream)
        let one = catalog()
        let other = catalog()
        #expect(names(one) == ["a.h264"])
        #expect(names(other) == ["a.h264"])
        #expect(names(RecordingCatalog(place, indexFolder: folder.path("nowhere"))) == ["a.h264"])
        folder.write("notes", "no folder")
        #expect(names(RecordingCatalog(place, indexFolder: folder.path("notes"))) == ["a.h264"])
    }

    @Test(
        "a camera whose settings change while its recordings are in use keeps the index, also if it records events now"
    )
    func handedOver() throws {
        folder.write("rec/a.h264", stream)
        let catalogs = RecordingCatalogs(indexFolder: folder.path("cache"))
        let before = catalogs[place]
        #expect(names(before) == ["a.h264"])
        #expect(catalogs[place] === before)
        var events = place
        events.areEvents = true
        let after = catalogs[events]
        #expect(after !== before && after.areEvents)
        #expect(names(after) == ["a.h264"] && after.isKept && before.isKept)
        #expect(!catalogs[RecordingsPlace(folder: folder.path("cache"))].areEvents)
    }

    @Test("an index whose file is in use for a moment is opened when the file is free")
    func inUse() throws {
        folder.write("rec/a.h264", stream)
        var first: RecordingIndex? = index(in: folder.path("cache"))
        #expect(first?.isKept == true)
        let second = RecordingIndex(place, in: folder.path("cache"))
        #expect(!second.open(waits: true) && second.isKept)
        first = nil
        #expect(second.open(waits: true) && second.isKept)
        // Without patience the index is kept in memory.
        let third = RecordingIndex(place, in: folder.path("cache"))
        #expect(third.open() && !third.isKept)
    }

    @Test("what could not be read is read again; what is damaged is not")
    func transient() throws {
        for code in [EIO, EMFILE, EACCES, ETIMEDOUT] {
            let error = RemuxError.input(InputError(.readFailed(errno: code), input: "a"))
            #expect(RecordingProbe.Failure(error).isTransient)
        }
        #expect(!RecordingProbe.Failure(.input(InputError(.malformed("noise"), input: "a"))).isTransient)
        let index = index(in: nil)
        folder.write("rec/a.h264", stream)
        var status = stat()
        stat(folder.path("rec/a.h264"), &status)
        let id = try #require(index.enter(RecordingFile(path: ["a.h264"], status)))
        index.set(.unreadable, "a.h264: the disk hiccups", of: id)
        #expect(index.problems(at: .now).map(\.reason) == ["a.h264: the disk hiccups"])
        #expect(index.waitingCount == 0 && index.hasUnreadable)
        #expect(index.retryUnreadable(most: 10))
        #expect(index.waiting(most: 10).map(\.id) == [id])
        index.set(.unusable, "a.h264: noise", of: id)
        #expect(!index.retryUnreadable(most: 10) && index.waitingCount == 0)
    }

    @Test("the newest come first: those of the journal, then the highest names")
    func order() throws {
        for name in ["a", "b", "c", "z"] { folder.write("rec/\(name).h264", "") }
        mkdir(folder.path("rec/day"), 0o755)
        folder.write("rec/day/y.h264", "")
        folder.write("secret.h264", "")
        folder.write(
            "rec/.%s.h264.camrec",
            "# camrec segments 1\n1\t5\tc.h264\n1\t-\tb.h264\n1\t5\t../secret.h264\n1\t5\tday/gone.h264\nnoise"
        )
        let opened = try RecordingFolder(path: folder.path("rec"))
        let walk = FolderWalk(opened, place, nil)
        var found: [String] = []
        while walk.step(entries: 1, found: { found.append($0.name) }) {}
        #expect(found == ["b.h264", "c.h264", "z.h264", "c.h264", "b.h264", "a.h264", "day/y.h264"])
        #expect(walk.problems.isEmpty && !walk.isIncomplete)
    }

    @Test("new folders and what comes into them are noticed")
    func changes() throws {
        let catalog = catalog()
        #expect(names(catalog).isEmpty)
        mkdir(folder.path("rec/day"), 0o755)
        folder.write("rec/day/a.h264", stream)
        #expect(names(catalog) == ["day/a.h264"])
        folder.write("rec/day/b.h264", stream)
        #expect(names(catalog) == ["day/a.h264", "day/b.h264"])
        rename(folder.path("rec/day"), folder.path("rec/night"))
        #expect(names(catalog) == ["night/a.h264", "night/b.h264"])
        rename(folder.path("rec/night"), folder.path("elsewhere"))
        #expect(names(catalog).isEmpty)
    }

    @Test("sets of numbers")
    func numbers() {
        var set = NumberSet()
        #expect(!set.contains(0))
        for number in [1000, 1063, 1064, 5000, 3, 1_800_000] as [UInt64] { set.insert(number) }
        #expect(set.contains(1000) && set.contains(1063) && set.contains(1064) && set.contains(3))
        #expect(set.contains(5000) && set.contains(1_800_000))
        #expect(!set.contains(1001) && !set.contains(4) && !set.contains(0) && !set.contains(1 << 40))
        // A damaged index may have any number; none takes the memory of a machine.
        for number in [.max, 1 << 60, 1 << 40] as [UInt64] { set.insert(number) }
        #expect(set.contains(5000) && !set.contains(1 << 40) && !set.contains(.max))
        var far = NumberSet()
        for number in [.max, 5] as [UInt64] { far.insert(number) }
        #expect(far.contains(.max) && !far.contains(5))
    }
}
