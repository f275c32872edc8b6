import CamPlatform
import Glibc
import TestSupport
import Testing
@testable import CamStorage
@testable import Containers

/// Which old segments are removed, and which files never are.
@Suite struct SegmentPrunerTests {
    let folder = TemporaryFolder()

    func names(_ pattern: String = "a.h264") -> FileNamePattern {
        FileNamePattern(folder.path(pattern), expandsTime: true)
    }

    func pruner(
        _ pattern: String = "a.h264", count: Int? = nil, bytes: Int? = nil, age: Duration? = nil,
        free: SegmentRetention.Floor? = nil, calls: FileCalls = FileCalls(),
        space: @escaping () -> (total: Int, free: Int)? = { nil }
    ) throws -> SegmentPruner {
        var retention = SegmentRetention()
        (retention.count, retention.bytes, retention.age, retention.free) = (count, bytes, age, free)
        return try SegmentPruner(retention, names: [names(pattern)], calls: calls, space: space)
    }

    /// Makes segments of a thousand bytes, as a recorder does, without removing any.
    func record(_ files: [String], _ pattern: String = "a.h264", calls: FileCalls = FileCalls()) throws {
        let pruner = try pruner(pattern, calls: calls)
        for file in files {
            try Folder.make(Folder.of(folder.path(file)))
            folder.write(file, Array(repeating: 1, count: 1000))
            _ = pruner.begin([folder.path(file)])
            pruner.end(size: 1000)
        }
    }

    func birth(_ name: String) -> WallTime? { FileFacts(path: folder.path(name))?.birth }

    func pruned(_ pruner: SegmentPruner, now: WallTime = WallTime(seconds: 0), size: Int = 0) -> [String] {
        pruner.prune(now: now, size: size).map { String($0.dropFirst(folder.path("").count + 1)) }
    }

    @Test("removes the oldest files beyond a number, earlier runs' included, and counts the next one")
    func count() throws {
        try record(["a.h264", "a-1.h264"])
        try record(["a-2.h264", "a-3.h264"])
        #expect(pruned(try pruner(count: 3)) == ["a.h264", "a-1.h264"])
        #expect(folder.names() == ["a-2.h264", "a-3.h264"])
    }

    @Test("removes the oldest files beyond a number of bytes, and counts the current segment")
    func bytes() throws {
        try record(["a.h264", "a-1.h264", "a-2.h264", "a-3.h264"])
        let pruner = try pruner(bytes: 3000)
        #expect(pruned(pruner) == ["a.h264"])
        #expect(pruned(pruner, size: 1500) == ["a-1.h264", "a-2.h264"])
        #expect(pruned(pruner, size: 5000) == ["a-3.h264"])
        #expect(pruned(pruner, size: 5000) == [])
    }

    @Test("enforces each of several limits, and the stricter of two of a kind")
    func several() {
        var (limits, other) = (SegmentRetention(), SegmentRetention())
        (limits.age, limits.bytes, limits.free) = (.seconds(60), 1000, .bytes(5))
        (other.bytes, other.count) = (500, 3)
        limits.tighten(to: other)
        #expect(limits.age == .seconds(60))
        #expect(limits.bytes == 500)
        #expect(limits.count == 3)
        #expect(limits.free == .bytes(5))
    }

    @Test("removes those that are too old, two at a time: the clock may be wrong")
    func age() throws {
        try record(["a.h264", "a-1.h264", "a-2.h264", "a-3.h264"])
        let now = WallTime.now
        #expect(pruned(try pruner(age: .seconds(60)), now: now) == [])
        #expect(pruned(try pruner(age: .seconds(60)), now: now + .seconds(3600)) == ["a.h264", "a-1.h264"])
        #expect(pruned(try pruner(age: .seconds(60)), now: now + .seconds(3600)) == ["a-2.h264", "a-3.h264"])
    }

    @Test("the age limit skips a segment that was taken away, or looks younger than it is")
    func ageBehindOthers() throws {
        try record((0..<5).map { "a-\($0).h264" })
        unlink(folder.path("a-0.h264"))
        var times = [timespec(tv_sec: time(nil) + 10_000, tv_nsec: 0), timespec()]
        times[1] = times[0]
        utimensat(AT_FDCWD, folder.path("a-1.h264"), times, 0)
        let pruner = try pruner(age: .seconds(60))
        unlink(folder.path("a-2.h264"))
        let later = WallTime.now + .seconds(3600)
        #expect(pruned(pruner, now: later) == ["a-1.h264", "a-3.h264"])
        #expect(pruned(pruner, now: later) == ["a-4.h264"])
    }

    @Test("removes as many of the oldest as necessary, by their sizes, while too little is free")
    func free() throws {
        try record((0..<8).map { "a-\($0).h264" })
        var free = 7500
        let pruner = try pruner(free: .share(0.1), space: { (total: 100_000, free: free) })
        #expect(pruned(pruner) == ["a-0.h264", "a-1.h264", "a-2.h264"])
        // The file system does not show it yet, and the segment grows meanwhile.
        folder.write("a-8.h264", [])
        _ = pruner.begin([folder.path("a-8.h264")])
        free = 7000
        #expect(pruned(pruner, size: 500) == [])
        free = 6900
        #expect(pruned(pruner, size: 600) == ["a-3.h264"])
        // Now it shows most of it, and then others fill that space.
        free = 10_500
        #expect(pruned(pruner, now: WallTime(seconds: 30), size: 600) == [])
        free = 9400
        #expect(pruned(pruner, now: WallTime(seconds: 31), size: 600) == ["a-4.h264"])
        // After a minute, no more will appear.
        free = 9500
        #expect(pruned(pruner, now: WallTime(seconds: 100), size: 600) == ["a-5.h264"])
        let content = try self.pruner("b.h264", free: .bytes(100), space: { (total: 1000, free: 100) })
        #expect(pruned(content) == [])
    }

    @Test("once the disk was full, makes room for a segment before it begins")
    func cramped() throws {
        try record((0..<8).map { "a-\($0).h264" })
        var free = 1000
        let pruner = try pruner(count: 100, space: { (total: 10_000, free: free) })
        folder.write("a-8.h264", Array(repeating: 1, count: 1000))
        _ = pruner.begin([folder.path("a-8.h264")])
        pruner.end(size: 1000)
        #expect(pruned(pruner) == [])
        #expect(pruner.makeRoom(now: WallTime(seconds: 0)) == [folder.path("a-0.h264")])
        #expect(pruned(pruner) == [])
        // Smaller ones, so that more are needed, including an earlier run's.
        folder.write("a-9.h264", Array(repeating: 1, count: 2500))
        _ = pruner.begin([folder.path("a-9.h264")])
        pruner.end(size: 2500)
        #expect(pruned(pruner) == ["a-1.h264", "a-2.h264", "a-3.h264"])
        free = 0
        #expect(pruner.makeRoom(now: WallTime(seconds: 0)).count == 3)
        free = 5000
        #expect(pruned(pruner) == [])
    }

    @Test("a disk that others are filling meanwhile costs no more segments")
    func filling() throws {
        try record((0..<4).map { "a-\($0).h264" })
        var free = 1_000_000
        let pruner = try pruner(
            count: 100,
            space: {
                free -= 4096
                return (total: 10_000_000, free: free)
            })
        #expect(pruner.makeRoom(now: WallTime(seconds: 0)) == [folder.path("a-0.h264")])
    }

    @Test("keeps the current segment, whatever the limits")
    func current() throws {
        let pruner = try pruner(count: 1, bytes: 1, free: .bytes(1), space: { (total: 1, free: 0) })
        folder.write("a.h264", [1, 2, 3])
        _ = pruner.begin([folder.path("a.h264")])
        #expect(pruned(pruner, size: 1 << 30) == [])
        #expect(pruner.makeRoom(now: WallTime(seconds: 0)) == [])
        #expect(folder.names() == ["a.h264"])
    }

    @Test("a segment that cannot be removed neither protects nor costs another one")
    func stuck() throws {
        try record((0..<6).map { "a-\($0).h264" })
        let path = folder.path("a-0.h264")
        guard mount(path, path, nil, UInt(MS_BIND), nil) == 0 else {
            try Test.cancel("mounts are not allowed")
        }
        defer { umount2(path, Int32(MNT_DETACH)) }
        let pruner = try pruner(bytes: 3000)
        #expect(pruned(pruner) == ["a-1.h264", "a-2.h264"])
        for number in 6..<9 {
            #expect(pruned(pruner) == [])
            folder.write("a-\(number).h264", Array(repeating: 1, count: 1000))
            _ = pruner.begin([folder.path("a-\(number).h264")])
            #expect(pruned(pruner, size: 1000) == ["a-\(number - 3).h264"])
            pruner.end(size: 1000)
        }
        umount2(path, Int32(MNT_DETACH))
        #expect(pruned(pruner) == ["a-0.h264"])
        #expect(folder.names() == ["a-6.h264", "a-7.h264", "a-8.h264"])
    }

    @Test("keeps files that camrec did not write, whatever their names")
    func foreign() throws {
        for name in ["a.h264", "a-1.h264", "b.h264"] { folder.write(name, [1]) }
        try record(["a-2.h264"])
        let pruner = try pruner(count: 1)
        #expect(pruned(pruner) == ["a-2.h264"])
        #expect(folder.names() == ["a-1.h264", "a.h264", "b.h264"])
    }

    @Test("keeps a file that replaced a segment, and a segment that was modified")
    func replaced() throws {
        try record(["a.h264", "a-1.h264", "a-2.h264"])
        replace("a.h264")
        folder.write("a-1.h264", [1, 2, 3])
        let pruner = try pruner(count: 1)
        #expect(pruned(pruner) == ["a-2.h264"])
        #expect(folder.names() == ["a-1.h264", "a.h264"])
    }

    @Test("keeps a file that replaces a segment during the recording, too")
    func replacedLater() throws {
        try record(["a.h264", "a-1.h264", "a-2.h264"])
        let pruner = try pruner(count: 1)
        replace("a.h264")
        #expect(!pruned(pruner).contains("a.h264"))
        #expect(folder.names().contains("a.h264"))
    }

    /// Replaces a segment with another file of the same size.
    private func replace(_ name: String) {
        // The clock of files ticks a few hundred times a second.
        repeat {
            unlink(folder.path("other"))
            folder.write("other", Array(repeating: 2, count: 1000))
        } while birth("other") == birth(name)
        rename(folder.path("other"), folder.path(name))
    }

    @Test("the age limit holds even if nothing is written, and keeps the current segment")
    func byTime() throws {
        try record(["a.h264", "a-1.h264", "a-2.h264", "a-3.h264"])
        let pruner = try pruner(count: 1, age: .seconds(60))
        let now = WallTime.now
        #expect(pruner.pruneByTime(now: now) == [])
        #expect(pruner.pruneByTime(now: now + .seconds(3600)).count == 2)
        // A camera that disappeared in the middle of a segment.
        folder.write("a-4.h264", [1])
        _ = pruner.begin([folder.path("a-4.h264")])
        #expect(pruner.pruneByTime(now: now + .seconds(3600)).count == 2)
        #expect(pruner.pruneByTime(now: now + .seconds(3600)) == [])
        #expect(folder.names() == ["a-4.h264"])
    }

    @Test("the age limit holds before a recording, too, every ten seconds, and creates nothing")
    func caretaker() throws {
        var plan = SegmentPlan(names: names(), length: .frames(10))
        plan.retention.age = .seconds(3600)
        #expect(RetentionWhileWaiting(plan) == nil)
        #expect(access(folder.path(".a.h264.camrec"), F_OK) != 0)
        try record(["a.h264", "a-1.h264"])
        let clock = ScriptedTime(now: .start, wallTime: .now)
        let caretaker = try #require(RetentionWhileWaiting(plan, clock: clock))
        #expect(caretaker.maintain() == [])
        clock.wallTime += .seconds(3700)
        clock.now = .start + .seconds(9)
        #expect(caretaker.maintain() == [])
        clock.now = .start + .seconds(10)
        #expect(caretaker.maintain().count == 2)
        #expect(folder.names().isEmpty)
        plan.retention = SegmentRetention()
        #expect(RetentionWhileWaiting(plan) == nil, "there is no limit")
    }

    @Test("removes everything that has become too old since the last time")
    func manyByTime() throws {
        try record((0..<8).map { "a-\($0).h264" })
        let pruner = try pruner(age: .seconds(60))
        #expect(pruner.pruneByTime(now: .now + .seconds(62)).count == 8)
    }

    @Test("does not immediately remove what a jump of the clock made old")
    func clockJump() throws {
        try record((0..<200).map { "a-\($0).h264" })
        let pruner = try pruner(age: .seconds(60))
        let now = WallTime.now + .seconds(3600)
        #expect(pruner.pruneByTime(now: now).count == 3)
        #expect(pruner.pruneByTime(now: now).count == 3)
    }

    @Test("follows no links, neither to a file nor to a folder")
    func links() throws {
        let pattern = "%Y/a-%H.h264"
        try record(["2025/a-10.h264", "2026/a-11.h264"], pattern)
        rename(folder.path("2025"), folder.path("kept"))
        symlink(folder.path("kept"), folder.path("2025"))
        rename(folder.path("2026/a-11.h264"), folder.path("kept/film.h264"))
        symlink(folder.path("kept/film.h264"), folder.path("2026/a-11.h264"))
        #expect(pruned(try pruner(pattern, count: 1)) == [])
        #expect(folder.names(in: "kept") == ["a-10.h264", "film.h264"])
    }

    @Test(
        "a manipulated journal leads to no other file",
        arguments: ["../victim", "sub/../../victim", "/victim", "victim", "a-1.h264/../victim", ""])
    func tampered(name: String) throws {
        let inner = "inner/a.h264"
        mkdir(folder.path("inner"), 0o755)
        let victim = folder.path("victim")
        folder.write("victim", [1])
        folder.write("inner/victim", [1])
        let birth = try #require(FileFacts(path: victim)?.birth)
        let inside = try #require(FileFacts(path: folder.path("inner/victim"))?.birth)
        for time in [birth, inside] {
            folder.write(
                "inner/.a.h264.camrec", Array("# camrec segments 1\n\(time.nanoseconds)\t1\t\(name)\n".utf8))
            #expect(pruned(try pruner(inner, count: 1)) == [])
        }
        #expect(folder.content("victim") == [1])
        #expect(folder.content("inner/victim") == [1])
    }

    @Test("a damaged journal loses only the damaged lines")
    func damaged() throws {
        try record(["a.h264", "a-1.h264"])
        var journal = try #require(folder.content(".a.h264.camrec"))
        journal += Array(
            "\u{fffd}\u{0}garbage\n12\t\n\t\t\n99999999999999999999\t1\ta-7.h264\n1\t-\ta-9".utf8)
        folder.write(".a.h264.camrec", [])
        let rewritten = open(folder.path(".a.h264.camrec"), O_WRONLY | O_TRUNC)
        _ = write(rewritten, journal, journal.count)
        close(rewritten)
        #expect(pruned(try pruner(count: 1)) == ["a.h264", "a-1.h264"])
    }

    @Test("absurd sizes in a journal do no harm, and its files stay")
    func sizesBeyondBounds() throws {
        try record(["a.h264", "a-1.h264", "a-2.h264"])
        let journal = String(
            decoding: try #require(folder.content(".a.h264.camrec")), as: UTF8.self)
        let altered = journal.replacing("\t1000\t", with: "\t\(Int.max)\t")
        let rewritten = open(folder.path(".a.h264.camrec"), O_WRONLY | O_TRUNC)
        _ = write(rewritten, altered, altered.utf8.count)
        close(rewritten)
        let pruner = try pruner(bytes: 1000, free: .bytes(100), space: { (total: .max, free: .max) })
        folder.write("a-3.h264", [1])
        _ = pruner.begin([folder.path("a-3.h264")])
        #expect(pruned(pruner, size: 500) == [])
        pruner.end(size: 500)
        #expect(pruner.makeRoom(now: WallTime(seconds: 0)) == [])
        #expect(folder.names() == ["a-1.h264", "a-2.h264", "a-3.h264", "a.h264"])
    }

    @Test("only one recorder at a time manages the segments of a pattern")
    func lock() throws {
        let first = try pruner(count: 1)
        let error = #expect(throws: OutputError.self) { try pruner(count: 1) }
        #expect(error?.kind == .journalInUse)
        withExtendedLifetime(first) {}
    }

    @Test("refuses a journal that is a link")
    func linkedJournal() throws {
        symlink(folder.path("elsewhere"), folder.path(".a.h264.camrec"))
        #expect(throws: OutputError.self) { try pruner(count: 1) }
        #expect(folder.names() == [])
    }

    @Test("rewrites a journal that vanished with its folder, with what is still there")
    func removedFolder() throws {
        mkdir(folder.path("in"), 0o755)
        let pruner = try pruner("in/a.h264", count: 10)
        func begin(_ name: String) {
            mkdir(folder.path("in"), 0o755)
            folder.write("in/\(name)", [1, 2, 3])
            #expect(pruner.begin([folder.path("in/\(name)")]) == nil)
            pruner.end(size: 3)
        }
        begin("a.h264")
        for name in ["a.h264", ".a.h264.camrec"] { unlink(folder.path("in/\(name)")) }
        #expect(rmdir(folder.path("in")) == 0)
        begin("a-1.h264")
        begin("a-2.h264")
        let journal = String(decoding: try #require(folder.content("in/.a.h264.camrec")), as: UTF8.self)
        #expect(!journal.contains("a.h264\n"))
        #expect(journal.contains("a-1.h264\n") && journal.contains("a-2.h264\n"))
        #expect(pruned(pruner) == [])
    }

    @Test("a disk without room for the journal blocks nothing; reports it once, and catches up later")
    func noRoomForJournal() throws {
        mkdir(folder.path("disk"), 0o755)
        guard mount("camrec-test", folder.path("disk"), "tmpfs", 0, "size=64k") == 0 else {
            try Test.cancel("mounting a file system needs root")
        }
        defer { umount2(folder.path("disk"), Int32(MNT_DETACH)) }
        try record(["disk/a.h264"], "disk/a.h264")
        // Everything but the journal's own page is taken.
        var fill = 0
        while folder.write("disk/fill-\(fill)", Array(repeating: 0, count: 4096)) { fill += 1 }
        unlink(folder.path("disk/fill-\(fill)"))
        let pruner = try pruner("disk/a.h264", count: 10)
        func begin(_ number: Int) -> OutputError? {
            folder.write("disk/a-\(number).h264", [])
            let name = "a-\(number)" + String(repeating: "0", count: 200) + ".h264"
            rename(folder.path("disk/a-\(number).h264"), folder.path("disk/\(name)"))
            defer { pruner.end(size: 0) }
            return pruner.begin([folder.path("disk/\(name)")])
        }
        let errors = (1...40).compactMap(begin)
        #expect(errors.map(\.kind) == [.diskFull])
        for number in 0..<fill { unlink(folder.path("disk/fill-\(number)")) }
        #expect(begin(41) == nil)
        let lines = try #require(folder.content("disk/.a.h264.camrec")).count { $0 == UInt8(ascii: "\n") }
        #expect(lines >= 43)
    }

    @Test("rewrites a journal that grows with removed files now and then")
    func longRecording() throws {
        let pruner = try pruner(count: 3)
        for number in 0..<2000 {
            folder.write("a-\(number).h264", [1])
            _ = pruner.begin([folder.path("a-\(number).h264")])
            pruner.end(size: 1)
            _ = pruner.prune(now: WallTime(seconds: 0), size: 0)
        }
        let lines = try #require(folder.content(".a.h264.camrec")).count { $0 == UInt8(ascii: "\n") }
        #expect(lines < 1100)
        #expect(pruned(try self.pruner("b.h264")) == [])
        #expect(folder.names().count == 2)
    }

    @Test("removes later what cannot be removed now")
    func notRemovable() throws {
        mkdir(folder.path("in"), 0o755)
        try record(["in/a.h264", "in/a-1.h264"], "in/a.h264")
        let pruner = try pruner("in/a.h264", count: 1)
        let isRoot = geteuid() == 0
        if isRoot {
            guard mount(folder.path("in"), folder.path("in"), nil, UInt(MS_BIND), nil) == 0,
                mount(nil, folder.path("in"), nil, UInt(MS_BIND | MS_REMOUNT | MS_RDONLY), nil) == 0
            else { try Test.cancel("mounts are not allowed") }
        } else {
            chmod(folder.path("in"), 0o555)
        }
        #expect(pruned(pruner) == [])
        if isRoot { umount2(folder.path("in"), Int32(MNT_DETACH)) } else { chmod(folder.path("in"), 0o755) }
        folder.write("in/a-2.h264", [1])
        _ = pruner.begin([folder.path("in/a-2.h264")])
        pruner.end(size: 1)
        #expect(pruned(pruner) == ["in/a.h264", "in/a-1.h264", "in/a-2.h264"])
    }

    @Test("refuses a file that is not a journal by name")
    func noJournal() throws {
        mkfifo(folder.path(".a.h264.camrec"), 0o600)
        let error = #expect(throws: OutputError.self) { try pruner(count: 1) }
        #expect(error?.kind == .noJournal)
    }

    @Test("removes a segment's timestamps with it")
    func timestamps() throws {
        var retention = SegmentRetention()
        retention.count = 1
        let pruner = try SegmentPruner(
            retention, names: [names(), names("a.txt")], space: { nil })
        for name in ["a.h264", "a.txt"] { folder.write(name, [1]) }
        _ = pruner.begin([folder.path("a.h264"), folder.path("a.txt")])
        pruner.end(size: 1)
        #expect(pruned(pruner) == ["a.h264"])
        #expect(folder.names() == [])
    }

    @Test("removes timestamps in another folder with their segment, even those of an earlier run")
    func timestampsElsewhere() throws {
        for name in ["segments", "times"] { mkdir(folder.path(name), 0o755) }
        let names = [names("segments/a.h264"), names("times/%Y/a.txt")]
        let files = ["segments/a.h264", "times/2009/a.txt"].map { folder.path($0) }
        var retention = SegmentRetention()
        retention.count = 1
        do {
            let pruner = try SegmentPruner(retention, names: names, space: { nil })
            try Folder.make(folder.path("times/2009"))
            for name in ["segments/a.h264", "times/2009/a.txt"] { folder.write(name, [1]) }
            _ = pruner.begin(files)
            pruner.end(size: 1)
        }
        let pruner = try SegmentPruner(retention, names: names, space: { nil })
        #expect(pruned(pruner) == ["segments/a.h264"])
        #expect(folder.names(in: "times") == [])
        #expect(folder.names() == ["segments", "times"])
    }

    @Test("removes a segment's timestamps also in a run that writes none", arguments: ["", "times/"])
    func timestampsOfAnEarlierRun(place: String) throws {
        mkdir(folder.path("times"), 0o755)
        do {
            let pruner = try SegmentPruner(
                SegmentRetention(), names: [names(), names("\(place)a.txt")], space: { nil })
            for name in ["a", "a-1"] {
                let files = ["\(name).h264", "\(place)\(name).txt"]
                for file in files { folder.write(file, [1]) }
                _ = pruner.begin(files.map { folder.path($0) })
                pruner.end(size: 1)
            }
        }
        // Somebody else's by now.
        let birth = birth("\(place)a-1.txt")
        repeat {
            unlink(folder.path("\(place)a-1.txt"))
            folder.write("\(place)a-1.txt", [2])
        } while self.birth("\(place)a-1.txt") == birth
        #expect(pruned(try pruner(count: 1)) == ["a.h264", "a-1.h264"])
        #expect(folder.names(in: place) == ["a-1.txt"] + (place.isEmpty ? ["times"] : []))
    }

    @Test("removes the pattern's folders with their last file, and no other folder")
    func emptyFolders() throws {
        let pattern = "fixed/%Y/%m/a.h264"
        mkdir(folder.path("fixed"), 0o755)
        try record(["fixed/2008/12/a.h264", "fixed/2009/01/a.h264", "fixed/2009/02/a.h264"], pattern)
        folder.write("fixed/2009/02/other", [1])
        let pruner = try pruner(pattern, count: 1)
        #expect(pruned(pruner).count == 3)
        #expect(folder.names(in: "fixed") == ["2009"])
        #expect(folder.names(in: "fixed/2009") == ["02"])
        #expect(folder.names(in: "fixed/2009/02") == ["other"])
    }
}
