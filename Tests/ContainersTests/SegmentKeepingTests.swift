import CamPlatform
import Glibc
import TestSupport
import Testing
@testable import CamStorage
@testable import Containers

/// Segments that are kept: which limits leave them alone, and what the journal says about them.
extension SegmentPrunerTests {
    private func range(_ first: String, to last: String? = nil) -> SegmentRange {
        SegmentRange(first: folder.path(first), last: last.map(folder.path))
    }

    /// Keeps or releases as 'camrec keep' does.
    @discardableResult
    private func mark(_ first: String, to last: String? = nil, isKept: Bool = true) throws -> KeptSegments {
        try SegmentKeeping.mark(range(first, to: last), isKept: isKept)
    }

    /// The names that the folder's journals list as kept.
    private func kept() throws -> [String] {
        let list = try SegmentKeeping.list(in: folder.path(""))
        return (list?.segments ?? []).map { String($0.path.split(separator: "/").last ?? "") }
    }

    private func refusal(_ body: () throws -> Void) -> KeepingRefusal? {
        do {
            try body()
            return nil
        } catch { return error as? KeepingRefusal }
    }

    private func lines() -> [String] {
        String(decoding: folder.content(".a.h264.camrec") ?? [], as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    @Test("a limit by number counts what is kept, and removes only the others")
    func keptByCount() throws {
        try record(["a.h264", "a-1.h264", "a-2.h264", "a-3.h264"])
        try mark("a.h264")
        #expect(pruned(try pruner(count: 3)) == ["a-1.h264", "a-2.h264"])
        #expect(folder.names() == ["a-3.h264", "a.h264"])
    }

    @Test("a limit by bytes counts what is kept, and removes only the others")
    func keptByBytes() throws {
        try record(["a.h264", "a-1.h264", "a-2.h264", "a-3.h264"])
        try mark("a-1.h264")
        #expect(pruned(try pruner(bytes: 2000)) == ["a.h264", "a-2.h264"])
        #expect(folder.names() == ["a-1.h264", "a-3.h264"])
    }

    @Test("no age is too old for what is kept; younger ones behind it go")
    func keptByAge() throws {
        try record(["a.h264", "a-1.h264", "a-2.h264"])
        try mark("a.h264")
        try mark("a-2.h264")
        let pruner = try pruner(age: .seconds(60))
        #expect(pruned(pruner, now: .now + .seconds(3600)) == ["a-1.h264"])
        #expect(pruner.pruneByTime(now: .now + .seconds(7200)) == [])
        #expect(folder.names() == ["a-2.h264", "a.h264"])
    }

    @Test("what is kept makes no room on a full disk, and with --min-free nothing helps then")
    func keptOnFullDisk() throws {
        try record(["a.h264", "a-1.h264"])
        try mark("a.h264")
        let pruner = try pruner(free: .bytes(5000), space: { (total: 100_000, free: 0) })
        #expect(pruner.makeRoom(now: WallTime(seconds: 0)) == [folder.path("a-1.h264")])
        #expect(pruned(pruner) == [])
        #expect(pruner.isHelpless)
        #expect(!pruner.isFullOfKept)
        #expect(folder.names() == ["a.h264"])
    }

    @Test("a limit is full once what is kept alone reaches it, until it is released")
    func fullOfKept() throws {
        try record(["a.h264", "a-1.h264"])
        try mark("a.h264", to: "a-1.h264")
        #expect(try pruner(count: 2).isFullOfKept)
        #expect(try !pruner(count: 3).isFullOfKept)
        #expect(try pruner(bytes: 2000).isFullOfKept)
        #expect(try !pruner(bytes: 2001).isFullOfKept)
        try mark("a-1.h264", isKept: false)
        #expect(try !pruner(count: 2).isFullOfKept)
    }

    @Test("released segments go in the order of their recording")
    func released() throws {
        try record(["a.h264", "a-1.h264", "a-2.h264"])
        try mark("a.h264", to: "a-2.h264")
        #expect(pruned(try pruner(count: 1)) == [])
        try mark("a-1.h264", isKept: false)
        try mark("a.h264", isKept: false)
        #expect(pruned(try pruner(count: 2)) == ["a.h264", "a-1.h264"])
        #expect(try kept() == ["a-2.h264"])
    }

    @Test("a range takes what was recorded between two segments, whichever is named first")
    func range() throws {
        let files = (0..<5).map { "a-\($0).h264" }
        try record(files)
        #expect(try mark("a-3.h264", to: "a-1.h264").count == 3)
        #expect(try kept() == ["a-1.h264", "a-2.h264", "a-3.h264"])
        #expect(try SegmentKeeping.list(in: folder.path(""))?.bytes == 3000)
    }

    @Test("a segment goes with its timestamps only when it is released")
    func keptTimestamps() throws {
        let names = [self.names("a.h264"), self.names("t.txt")]
        var retention = SegmentRetention()
        retention.count = 1
        func pruner() throws -> SegmentPruner { try SegmentPruner(retention, names: names, space: { nil }) }
        do {
            let pruner = try pruner()
            for name in ["a.h264", "t.txt"] { folder.write(name, [1]) }
            _ = pruner.begin(names.map(\.pattern))
            pruner.end(size: 1)
        }
        try mark("a.h264")
        #expect(pruned(try pruner()) == [])
        #expect(folder.names() == ["a.h264", "t.txt"])
        try mark("a.h264", isKept: false)
        #expect(pruned(try pruner()) == ["a.h264"])
        #expect(folder.names() == [])
    }

    @Test("a segment that is being written can be kept, and stays kept when it has ended")
    func keptWhileWritten() throws {
        do {
            let pruner = try pruner(count: 1)
            folder.write("a.h264", [1, 2, 3])
            _ = pruner.begin([folder.path("a.h264")])
            let kept = try pruner.carryOut(.mark(range("a.h264"), isKept: true))
            #expect(kept.segments.map(\.bytes) == [nil])
            pruner.end(size: 3)
            #expect(pruner.isFullOfKept)
        }
        #expect(try kept() == ["a.h264"])
        #expect(pruned(try pruner(count: 1)) == [])
    }

    @Test("what is kept and removed by hand counts no more")
    func removedByHand() throws {
        try record(["a.h264", "a-1.h264"])
        try mark("a.h264", to: "a-1.h264")
        let pruner = try pruner(count: 2)
        unlink(folder.path("a.h264"))
        #expect(pruner.isFullOfKept)
        #expect(pruned(pruner) == [])
        #expect(!pruner.isFullOfKept)
        #expect(try kept() == ["a-1.h264"])
    }

    @Test("names are found as the journal has them, with the folder, from the root, and by another way")
    func spellings() throws {
        try record(["2026/a.h264"], "%Y/a.h264")
        symlink(folder.path(""), folder.path("link"))
        let detours = ["", folder.path(""), folder.path("2026/.."), folder.path("link")]
        for detour in detours {
            let path = detour.isEmpty ? "2026/a.h264" : "\(detour)/2026/a.h264"
            let pruner = try pruner("%Y/a.h264", count: 9)
            #expect(try pruner.carryOut(.mark(SegmentRange(first: path), isKept: true)).count == 1)
        }
        try mark("2026/a.h264", isKept: false)
        #expect(try kept() == [])
    }

    @Test("only segments of the journal can be kept: no other file, no copy, nothing outside")
    func strangers() throws {
        try record(["a.h264", "a-1.h264"])
        for name in ["b.h264", "c"] { folder.write(name, [1]) }
        unlink(folder.path("a-1.h264"))
        folder.write("a-1.h264", Array(repeating: 2, count: 1000))
        let unknown = [
            folder.path("b.h264"), folder.path("c"), folder.path("nothing"), "/etc/passwd", "../a.h264", "",
            folder.path("a.h264/x"), folder.path(".a.h264.camrec"),
        ]
        for path in unknown {
            #expect(
                refusal { _ = try SegmentKeeping.mark(SegmentRange(first: path), isKept: true) }
                    == .unknown(path))
        }
        #expect(refusal { try mark("a.h264", to: "b.h264") } == .unknown(folder.path("b.h264")))
        #expect(refusal { try mark("a-1.h264") } == .replaced(folder.path("a-1.h264")))
        #expect(try kept() == [])
        let pruner = try pruner(count: 9)
        #expect(
            refusal { _ = try pruner.carryOut(.mark(SegmentRange(first: "/etc/passwd"), isKept: true)) }
                == .unknown("/etc/passwd"))
    }

    @Test("while a recorder has the journal, no other process changes it, but it can be listed")
    func twoProcesses() throws {
        try record(["a.h264"])
        let pruner = try pruner(count: 1)
        #expect(
            refusal { try mark("a.h264") }
                == .failed(OutputError(.journalInUse, output: folder.path("*"))))
        _ = try pruner.carryOut(.mark(range("a.h264"), isKept: true))
        #expect(try kept() == ["a.h264"])
        #expect(try pruner.carryOut(.list).count == 1)
    }

    @Test("without locks, a mark that another process makes holds at once")
    func withoutLocks() throws {
        try record(["a.h264", "a-1.h264"])
        var calls = FileCalls()
        calls.lock = { _ in ENOLCK }
        let pruner = try pruner(count: 1, calls: calls)
        try mark("a.h264")
        #expect(pruned(pruner) == ["a-1.h264"])
        #expect(folder.names() == ["a.h264"])
    }

    @Test(
        "a journal without marks is read, and one with marks has no line that an earlier version would act on"
    )
    func earlierVersions() throws {
        try record(["a.h264", "a-1.h264"])
        let before = lines()
        #expect(!before.contains { $0.hasPrefix("keep") })
        try mark("a.h264")
        #expect(lines().count == 3)
        #expect(lines().filter { $0.hasSuffix("\ta.h264") }.map { $0.hasPrefix("keep\t") } == [true])
        // An earlier version understands lines of three, five or six fields that begin with a number.
        let understood = lines().filter {
            let fields = $0.split(separator: "\t")
            return [3, 5, 6].contains(fields.count) && Int64(fields[0]) != nil
        }
        #expect(understood.map { $0.hasSuffix("\ta-1.h264") } == [true])
        try mark("a.h264", isKept: false)
        #expect(Set(lines()).isSubset(of: before))
        #expect(lines().count == 3)
    }

    @Test("a damaged line costs its own mark only, and never a file")
    func damagedMarks() throws {
        try record(["a.h264", "a-1.h264", "a-2.h264"])
        try mark("a.h264", to: "a-1.h264")
        let damaged = lines().map { $0.hasSuffix("\ta.h264") ? "keep\t?" + $0.dropFirst(5) : $0 }
        folder.write(".a.h264.camrec", Array((damaged.joined(separator: "\n") + "\nkeep\t12").utf8))
        #expect(try kept() == ["a-1.h264"])
        #expect(pruned(try pruner(count: 1)) == ["a-2.h264"])
        #expect(folder.names() == ["a-1.h264", "a.h264"])
        #expect(lines().contains { $0.hasPrefix("keep\t?") })
    }

    @Test(
        "on a full disk a mark takes the rest of the journal's block, or is not made",
        arguments: [false, true])
    func marksOnFullDisk(isBlockFull: Bool) throws {
        let disk = try SmallFileSystem(bytes: 1 << 20)
        var retention = SegmentRetention()
        retention.count = 9
        let path = disk.path + "/a.h264"
        let names = [FileNamePattern(path, expandsTime: false)]
        let pruner = try SegmentPruner(retention, names: names, space: { nil })
        #expect(Self.append(1000, to: path))
        _ = pruner.begin([path])
        pruner.end(size: 1000)
        let journal = SegmentJournal.path(for: names[0])
        let size = try FileFacts.read(journal).size
        if isBlockFull { #expect(Self.append(Int(sysconf(Int32(_SC_PAGESIZE))) - size, to: journal)) }
        while Self.append(4096, to: disk.path + "/stranger") {}
        let refusal = refusal { _ = try pruner.carryOut(.mark(SegmentRange(first: path), isKept: true)) }
        #expect((refusal != nil) == isBlockFull)
        #expect(try pruner.carryOut(.list).count == (isBlockFull ? 0 : 1))
        #expect(try SegmentKeeping.list(in: disk.path)?.count == (isBlockFull ? 0 : 1))
    }

    private static func append(_ count: Int, to path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(descriptor) }
        let bytes = Array(repeating: UInt8(ascii: "x"), count: count - 1) + [UInt8(ascii: "\n")]
        return write(descriptor, bytes, count) == count
    }

    @Test("very many are counted, and only the newest are listed")
    func many() {
        let segments = (0..<5000).map { KeptSegment(path: "/a-\($0)", bytes: 2, begun: nil) }
        let kept = KeptSegments(segments)
        #expect(kept.count == 5000)
        #expect(kept.bytes == 10_000)
        #expect(kept.segments == segments.suffix(1000))
        let long = KeptSegments([
            KeptSegment(path: String(repeating: "a", count: 200_000), bytes: .max, begun: nil)
        ])
        #expect(long.segments == [])
        #expect(long.count == 1)
    }

    @Test("an adopted copy is kept as before")
    func adopted() throws {
        try record(["a.h264"])
        try mark("a.h264")
        let content = try #require(folder.content("a.h264"))
        unlink(folder.path("a.h264"))
        folder.write("a.h264", content)
        #expect(try SegmentAdoption.adopt(in: folder.path("")).adopted == 1)
        #expect(pruned(try pruner(count: 1)) == [])
        #expect(try kept() == ["a.h264"])
    }
}

/// A command for the thread that writes, and its answer.
@Suite(.hangGuard) struct KeepingRequestTests {
    @Test("the sender gets the answer")
    func answered() throws {
        let request = KeepingRequest(.list)
        request.carryOut { _ in KeptSegments() }
        #expect(try request.answer(until: .now) == KeptSegments())
    }

    @Test("what nobody waits for any more is not carried out")
    func late() {
        let request = KeepingRequest(.list)
        #expect(throws: KeepingRefusal.silent) { try request.answer(until: .now) }
        request.carryOut { _ in
            Issue.record("carried out")
            return KeptSegments()
        }
    }

    @Test("the sender gets the refusal, from another thread")
    func refused() {
        let request = KeepingRequest(.list)
        let thread = WorkerThread { request.carryOut { (_) throws(KeepingRefusal) in throw .noLimits } }
        guard let thread else {
            Issue.record("no thread")
            return
        }
        #expect(throws: KeepingRefusal.noLimits) { try request.answer(until: .distantFuture) }
        thread.join()
    }
}
