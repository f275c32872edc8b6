import Bitstream
import CamPlatform
import Glibc
import TestSupport
import Testing
@testable import CamStorage
@testable import Containers

/// A recording in segments: no access unit is lost or duplicated between two of them, and a disk that fails
/// for a while costs only what arrived meanwhile.
@Suite struct SegmentRecorderTests {
    // MARK: Cutting

    @Test("a file has exactly its frames, and the concatenated files are the stream")
    func frames() throws {
        let bench = SegmentBench()
        let sink = try bench.recorder("rec-%H.h264", .frames(20))
        let units = pictures(0..<50, idrEvery: 10)
        for unit in units { try sink.write(unit) }
        try sink.finish()
        #expect(bench.folder.names() == ["rec-23-1.h264", "rec-23-2.h264", "rec-23.h264"])
        #expect(bench.bytes("rec-23.h264") == allBytes(units[..<20]))
        #expect(bench.bytes("rec-23-1.h264") == allBytes(units[20..<40]))
        #expect(bench.bytes("rec-23-2.h264") == allBytes(units[40...]))
        #expect(sink.summary.count == 3)
        #expect(sink.summary.first == bench.folder.path("rec-23.h264"))
        #expect(sink.summary.last == bench.folder.path("rec-23-2.h264"))
    }

    @Test("a file begins with an IDR; without one, the previous file continues")
    func waitsForIDR() throws {
        let bench = SegmentBench()
        let sink = try bench.recorder("a.h264", .time(.milliseconds(1500)))
        let units = pictures(0..<50, idrEvery: 20)
        for unit in units { try sink.write(unit) }
        try sink.finish()
        #expect(bench.bytes("a.h264") == allBytes(units[..<20]))
        #expect(bench.bytes("a-1.h264") == allBytes(units[20..<40]))
        #expect(bench.bytes("a-2.h264") == allBytes(units[40...]))
    }

    @Test("a file that has its bytes ends before the next IDR")
    func size() throws {
        let bench = SegmentBench()
        let sink = try bench.recorder("a.h264", .bytes(1000))
        let units = pictures(0..<30, idrEvery: 5)
        for unit in units { try sink.write(unit) }
        try sink.finish()
        #expect(bench.bytes("a.h264") == allBytes(units[..<10]))
        #expect(bench.bytes("a-1.h264") == allBytes(units[10..<20]))
        #expect(bench.bytes("a-2.h264") == allBytes(units[20...]))
    }

    @Test(
        "creates folders named by the time, names files by their start, and overwrites nothing"
    )
    func folders() throws {
        let bench = SegmentBench()
        mkdir(bench.folder.path("a"), 0o755)
        let sink = try bench.recorder("a/%Y/%H%M/x.h264", .frames(10))
        for unit in pictures(0..<10, idrEvery: 10) { try sink.write(unit) }
        bench.wall += .seconds(60)
        for unit in pictures(10..<20, idrEvery: 10) { try sink.write(unit) }
        try sink.finish()
        #expect(bench.folder.names(in: "a/2009") == ["2331", "2332"])
        let again = try bench.recorder("a/%Y/%H%M/x.h264", .frames(10))
        for unit in pictures(0..<5, idrEvery: 10) { try again.write(unit) }
        try again.finish()
        #expect(bench.folder.names(in: "a/2009/2332") == ["x-1.h264", "x.h264"])
    }

    @Test(
        "names an event's file after its first picture where the plan wants that",
        arguments: [(Duration?.none, "59"), (.seconds(60), "32"), (.seconds(20), "59")])
    func namesEvents(oldestNamed: Duration?, seconds: String) throws {
        let bench = SegmentBench()
        // 23:31:30 at the clock's start.
        let sink = try bench.recorder("%S.h264", nil, oldestNamed: oldestNamed)
        bench.monotonic = 29
        bench.wall = WallTime(seconds: 1_234_567_890 + 29)
        let first = accessUnit(length: 99, isIDR: true, frameNumber: 0, timestamp: .start + .seconds(2))
        try sink.write(first)
        try sink.finish()
        #expect(bench.folder.names() == ["\(seconds).h264"])
    }

    @Test("reports a folder that cannot be created at once")
    func noFolder() throws {
        let bench = SegmentBench()
        bench.folder.write("file", [1])
        let error = #expect(throws: OutputError.self) { try bench.recorder("file/x-%H.h264", .frames(10)) }
        #expect(error?.kind == .notCreated(errno: ENOTDIR))
    }

    @Test("does not create a folder before the first date: it may be mistyped, or not mounted")
    func mistypedFolder() throws {
        let bench = SegmentBench()
        for pattern in ["recc/%Y/x.h264", "recc/x.h264"] {
            let error = #expect(throws: OutputError.self) { try bench.recorder(pattern, .frames(10)) }
            #expect(error?.kind == .notCreated(errno: ENOENT))
            #expect(error?.description.hasSuffix(": no such folder; create it first") == true)
        }
        #expect(bench.folder.names().isEmpty)
    }

    @Test("each file's timestamps have the same counter")
    func timestamps() throws {
        let bench = SegmentBench()
        bench.folder.write("t.txt", [1, 2, 3])
        let sink = try bench.recorder("a.h264", .frames(10), timestamps: "t.txt")
        for unit in pictures(0..<20, idrEvery: 10) { try sink.write(unit) }
        try sink.finish()
        #expect(bench.folder.names() == ["a-1.h264", "a-2.h264", "t-1.txt", "t-2.txt", "t.txt"])
        #expect(bench.bytes("t.txt") == [1, 2, 3])
        for name in ["t-1.txt", "t-2.txt"] {
            let lines = bench.bytes(name).split(separator: UInt8(ascii: "\n"))
            #expect(lines.count == 11)
            #expect(lines[1].elementsEqual("0.000000".utf8))
        }
    }

    @Test("refuses timestamps whose pattern yields the segment's name, and creates nothing")
    func timestampsInPlace() throws {
        let bench = SegmentBench()
        let sink = try bench.recorder("2009.h264", .frames(10), timestamps: "%Y.h264")
        let unit = pictures(0..<1, idrEvery: 10)[0]
        let error = #expect(throws: OutputError.self) { try sink.write(unit) }
        #expect(error?.kind == .usedTwice("the timestamps"))
        #expect(bench.folder.names().isEmpty)
    }

    @Test("missing timestamps cost no picture and no old segment; reports that, rarely")
    func timestampsFail() throws {
        let bench = SegmentBench()
        var retention = SegmentRetention()
        retention.count = 100
        mkdir(bench.folder.path("t"), 0o755)
        let sink = try bench.recorder("a.h264", .frames(10), timestamps: "t/%H.txt", retention: retention)
        rmdir(bench.folder.path("t"))
        bench.folder.write("t", [1])
        for unit in pictures(0..<40, idrEvery: 10) { try sink.write(unit) }
        let error = #expect(throws: OutputError.self) { try sink.finish() }
        #expect(error?.kind == .notContinued(errno: ENOTDIR))
        #expect(bench.folder.names() == ["a-1.h264", "a-2.h264", "a-3.h264", "a.h264", "t"])
        #expect(bench.events.count { if case .interrupted = $0 { true } else { false } } == 1)
    }

    // MARK: Outages

    @Test("on a full disk the file ends, and another begins at an IDR when there is room again")
    func fullDisk() throws {
        let bench = SegmentBench()
        let sink = try bench.recorder("a.h264", nil)
        let units = pictures(0..<100, idrEvery: 10)
        #expect(sink.recovers)
        #expect(bench.lost(of: units[..<15], by: sink) == [])
        bench.failure = .diskFull
        #expect(bench.lost(of: units[15..<25], by: sink) == Array(15..<25))
        bench.failure = nil
        // Too early to try again: the first pause is a second.
        #expect(bench.lost(of: units[25..<35], by: sink) == Array(25..<35))
        bench.monotonic = 1
        #expect(bench.lost(of: units[35..<55], by: sink) == Array(35..<40))
        try sink.finish()
        #expect(bench.folder.names() == ["a-1.h264", "a.h264"])
        #expect(bench.bytes("a.h264") == allBytes(units[..<15]))
        #expect(bench.bytes("a-1.h264") == allBytes(units[40..<55]))
        #expect(
            bench.events == [
                .began(path: bench.folder.path("a.h264")),
                .interrupted(OutputError(.diskFull, output: bench.folder.path("a.h264"))),
                .resumed(path: bench.folder.path("a-1.h264"), lost: 25),
            ])
    }

    @Test("counts and names the files that are there, not those that a full disk left empty")
    func countsAfterFullDisk() throws {
        let bench = SegmentBench()
        let sink = try bench.recorder("a.h264", .frames(10))
        bench.failure = .diskFull
        #expect(bench.lost(of: pictures(0..<1, idrEvery: 10), by: sink) == [0])
        #expect(sink.segments == SegmentSummary())
        (bench.failure, bench.monotonic) = (nil, 1)
        for unit in pictures(10..<30, idrEvery: 10) { try sink.write(unit) }
        bench.failure = .diskFull
        for second in 2..<20 {
            bench.monotonic = second
            _ = bench.lost(of: pictures(30..<31, idrEvery: 10), by: sink)
        }
        try sink.finish()
        let names = bench.folder.names()
        #expect(names.count == 2)
        #expect(sink.segments?.count == 2)
        for case .began(let path) in bench.events { #expect(contentOfFile(path) != nil, "\(path)") }
        #expect(
            [sink.segments?.last, sink.segments?.first].map { $0.map { contentOfFile($0) != nil } } == [
                true, true,
            ])
        #expect(sink.segments?.first != sink.segments?.last)
    }

    @Test("timestamps go with a segment that a full disk left empty")
    func timestampsAfterFullDisk() throws {
        let bench = SegmentBench()
        let sink = try bench.recorder("a.h264", .frames(10), timestamps: "a.txt")
        for unit in pictures(0..<20, idrEvery: 10) { try sink.write(unit) }
        bench.holdsBack = true
        for unit in pictures(20..<25, idrEvery: 10) { try sink.write(unit) }
        bench.failure = .diskFull
        _ = bench.lost(of: pictures(25..<26, idrEvery: 10), by: sink)
        try sink.finish()
        #expect(bench.folder.names().sorted() == ["a-1.h264", "a-1.txt", "a.h264", "a.txt"])
    }

    @Test("says what keeps it from writing, and since when, until it writes again")
    func currentOutage() throws {
        let bench = SegmentBench()
        let sink = try bench.recorder("a.h264", .frames(10))
        let units = pictures(0..<40, idrEvery: 10)
        for unit in units[..<5] { try sink.write(unit) }
        #expect(sink.currentOutage == nil)
        bench.failure = .diskFull
        _ = bench.lost(of: units[5..<10], by: sink)
        let since = bench.wall
        #expect(sink.currentOutage?.error.condition == "disk full")
        (bench.wall, bench.monotonic) = (bench.wall + .seconds(5), 5)
        bench.creationFailure = .notCreated(errno: EROFS)
        _ = bench.lost(of: units[10..<20], by: sink)
        #expect(sink.currentOutage?.error.condition == "read-only")
        #expect(sink.currentOutage?.since == since)
        (bench.failure, bench.creationFailure, bench.monotonic) = (nil, nil, 20)
        for unit in units[20..<30] { try sink.write(unit) }
        #expect(sink.currentOutage == nil)
    }

    @Test("while nothing is written, says whether the disk is full or read-only now, and since when")
    func lookForOutage() throws {
        let bench = SegmentBench()
        let disk = bench.folder.path("disk")
        mkdir(disk, 0o755)
        guard mount("camrec-test", disk, "tmpfs", 0, "size=64k") == 0 else {
            try Test.cancel("mounting a file system needs root")
        }
        defer { umount2(disk, Int32(MNT_DETACH)) }
        let sink = try bench.recorder("disk/a.h264", nil)
        func look() -> String? {
            sink.lookForOutage(room: 8192)
            return sink.currentOutage?.error.condition
        }
        #expect(look() == nil)
        #expect(mount("", disk, "", UInt(MS_REMOUNT | MS_RDONLY), "size=64k") == 0)
        let since = bench.wall
        #expect(look() == "read-only")
        bench.wall = bench.wall + .seconds(5)
        #expect(look() == "read-only" && sink.currentOutage?.since == since)
        #expect(mount("", disk, "", UInt(MS_REMOUNT), "size=64k") == 0)
        #expect(look() == nil)
        // Its journal stays open, so the disk can no longer be made read-only.
        var retention = SegmentRetention()
        retention.count = 2
        let keeper = try bench.recorder("disk/b.h264", nil, retention: retention)
        for number in 0..<16 {
            bench.folder.write("disk/filler\(number)", [UInt8](repeating: 1, count: 4096))
        }
        #expect(look() == "disk full")
        keeper.lookForOutage(room: 8192)
        #expect(keeper.currentOutage == nil, "its old segments can make room")
        bench.failure = .diskFull
        #expect(bench.lost(of: [accessUnit()], by: keeper) == [0])
        keeper.lookForOutage(room: 8192)
        #expect(keeper.currentOutage?.error.condition == "disk full", "they did not")
        for number in 0..<16 { unlink("\(disk)/filler\(number)") }
        #expect(look() == nil)
        keeper.lookForOutage(room: 8192)
        #expect(keeper.currentOutage == nil)
        bench.failure = nil
        sink.lookForOutage(room: 1 << 20)
        #expect(sink.currentOutage?.error.condition == "disk full", "for more than the disk has")
        try sink.write(accessUnit())
        #expect(sink.currentOutage == nil, "but a smaller event has room")
        sink.endFile()
        // A later failure is a new outage, and one that only a write can show stays.
        bench.failure = .writeFailed(errno: EIO)
        #expect(bench.lost(of: [accessUnit()], by: sink) == [0])
        #expect(look() == "failing" && sink.currentOutage?.since == bench.wall)
    }

    @Test("what a file loses after it was written is retracted when it ends, and counts towards the outage")
    func retracted() throws {
        let bench = SegmentBench()
        let sink = try bench.recorder("a.h264", .frames(10))
        func lose(_ count: Int) { for _ in 0..<count { bench.retracted.add(accessUnit()) } }
        let units = pictures(0..<40, idrEvery: 10)
        for unit in units[..<5] { try sink.write(unit) }
        lose(3)
        #expect(sink.takeRetracted().count == 0)
        for unit in units[5..<15] { try sink.write(unit) }
        #expect(sink.takeRetracted().count == 3)
        lose(2)
        bench.failure = .diskFull
        #expect(bench.lost(of: units[15..<16], by: sink) == [15])
        #expect(sink.takeRetracted().count == 2)
        (bench.failure, bench.monotonic) = (nil, 1)
        #expect(bench.lost(of: units[16..<25], by: sink) == Array(16..<20))
        #expect(bench.events.last == .resumed(path: bench.folder.path("a-2.h264"), lost: 2 + 5))
        lose(4)
        try sink.finish()
        #expect(sink.takeRetracted().count == 4)
    }

    @Test("attempts come at longer and longer intervals, ten seconds at most, and leave nothing behind")
    func backOff() throws {
        let bench = SegmentBench()
        let sink = try bench.recorder("a-%S.h264", nil)
        bench.failure = .writeFailed(errno: EIO)
        var attempts: [Int64] = []
        for second in 0..<60 {
            (bench.monotonic, bench.wall) = (second, WallTime(seconds: second))
            let files = bench.openedStreams.count
            #expect(throws: OutputError.self) { try sink.write(accessUnit(frameNumber: second)) }
            if bench.openedStreams.count > files { attempts.append(Int64(second)) }
        }
        #expect(attempts == [0, 1, 3, 7, 15, 25, 35, 45, 55])
        try sink.finish()
        #expect(bench.folder.names() == [])
        #expect(bench.events.count { if case .interrupted = $0 { true } else { false } } == 1)
    }

    @Test("an outage long after another begins with a short pause; one soon after continues the pauses")
    func outageAfterOutage() throws {
        let bench = SegmentBench()
        let sink = try bench.recorder("a-%S.h264", .frames(1))
        func attempts(from start: Int, failing: Range<Int>) -> [Int] {
            (start..<failing.upperBound + 5).filter { second in
                (bench.monotonic, bench.wall) = (second, WallTime(seconds: second))
                bench.failure = failing.contains(second) ? .diskFull : nil
                let files = bench.openedStreams.count
                try? sink.write(accessUnit(frameNumber: second))
                return bench.openedStreams.count > files && failing.contains(second)
            }
        }
        #expect(attempts(from: 0, failing: 0..<7) == [0, 1, 3])
        #expect(attempts(from: 12, failing: 12..<30) == [12, 20])
        #expect(attempts(from: 100, failing: 100..<107) == [100, 101, 103])
    }

    @Test("reports repeated outages less and less")
    func toldOutages() throws {
        let bench = SegmentBench()
        let sink = try bench.recorder("a-%S.h264", .frames(1))
        for second in 0..<3600 {
            (bench.monotonic, bench.wall) = (second, WallTime(seconds: second))
            bench.failure = second % 12 < 2 ? .diskFull : nil
            try? sink.write(accessUnit(frameNumber: second))
        }
        let told = bench.events.count { if case .interrupted = $0 { true } else { false } }
        let resumed = bench.events.count { if case .resumed = $0 { true } else { false } }
        #expect((5...15).contains(told))
        #expect(resumed == told)
    }

    @Test("counts a file that cannot be created as an outage, not as one that never began")
    func cannotCreate() throws {
        let bench = SegmentBench()
        let sink = try bench.recorder("a.h264", .frames(10))
        bench.creationFailure = .notCreated(errno: EACCES)
        let first = #expect(throws: OutputError.self) { try sink.write(accessUnit()) }
        #expect(first?.isCreation == true)
        (bench.creationFailure, bench.monotonic) = (nil, 1)
        try sink.write(accessUnit(frameNumber: 0))
        bench.creationFailure = .notCreated(errno: EACCES)
        let second = #expect(throws: OutputError.self) { try sink.write(accessUnit(frameNumber: 10)) }
        #expect(second?.kind == .notContinued(errno: EACCES))
        #expect(second?.isCreation == false)
    }

    @Test("creates a removed folder again, and reports its content as lost")
    func folderRemoved() throws {
        let bench = SegmentBench()
        mkdir(bench.folder.path("sub"), 0o755)
        let sink = try bench.recorder("sub/a.h264", .frames(10))
        for unit in pictures(0..<10, idrEvery: 10) { try sink.write(unit) }
        unlink(bench.folder.path("sub/a.h264"))
        rmdir(bench.folder.path("sub"))
        for unit in pictures(10..<20, idrEvery: 10) { try sink.write(unit) }
        let lost = OutputError(.removed, output: bench.folder.path("sub/a.h264"))
        #expect(throws: lost) { try sink.finish() }
        #expect(bench.events.contains(.interrupted(lost)))
        #expect(bench.folder.names(in: "sub") == ["a-1.h264"])
    }

    @Test("writes nothing below the mount point of an unmounted disk")
    func volumeGone() throws {
        let bench = SegmentBench()
        mkdir(bench.folder.path("disk"), 0o755)
        guard mount("camrec-test", bench.folder.path("disk"), "tmpfs", 0, nil) == 0 else {
            try Test.cancel("mounting a file system needs root")
        }
        let sink = try bench.recorder("disk/a.h264", .frames(10))
        for unit in pictures(0..<10, idrEvery: 10) { try sink.write(unit) }
        umount2(bench.folder.path("disk"), Int32(MNT_DETACH))
        let error = #expect(throws: OutputError.self) { try sink.write(accessUnit(frameNumber: 10)) }
        #expect(error?.kind == .volumeGone)
        #expect(bench.folder.names(in: "disk") == [])
        #expect(mount("camrec-test", bench.folder.path("disk"), "tmpfs", 0, nil) == 0)
        defer { umount2(bench.folder.path("disk"), Int32(MNT_DETACH)) }
        bench.monotonic = 1
        try sink.write(accessUnit(frameNumber: 11))
        try sink.finish()
        #expect(bench.folder.names(in: "disk").count == 1)
    }

    @Test("recognises segments on a disk again after it was unmounted for a while")
    func volumeBack() throws {
        let bench = SegmentBench()
        let (store, disk) = (bench.folder.path("store"), bench.folder.path("disk"))
        for folder in [store, disk] { mkdir(folder, 0o755) }
        guard mount("camrec-test", store, "tmpfs", 0, nil) == 0,
            mount(store, disk, nil, UInt(MS_BIND), nil) == 0
        else { try Test.cancel("mounting a file system needs root") }
        defer { for folder in [disk, store] { umount2(folder, Int32(MNT_DETACH)) } }
        var retention = SegmentRetention()
        retention.age = .seconds(60)
        bench.wall = .now
        let sink = try bench.recorder("disk/a.h264", .frames(10), retention: retention)
        for unit in pictures(0..<25, idrEvery: 10) { try sink.write(unit) }
        bench.wall += .seconds(3600)
        umount2(disk, Int32(MNT_DETACH))
        #expect(throws: OutputError.self) { try sink.write(accessUnit(frameNumber: 30)) }
        #expect(mount(store, disk, nil, UInt(MS_BIND), nil) == 0)
        bench.monotonic = 1
        for unit in pictures(40..<60, idrEvery: 10) { try sink.write(unit) }
        try sink.finish()
        // By the clock of the test even the first of the new ones is an hour old when the second begins.
        #expect(bench.folder.names(in: "disk") == ["a-4.h264"])
        #expect(sink.summary.removed == 4)
    }

    @Test("old segments make room on a full disk at once")
    func makesRoom() throws {
        let bench = SegmentBench()
        var retention = SegmentRetention()
        retention.count = 100
        let sink = try bench.recorder("a.h264", .frames(10), retention: retention)
        let units = pictures(0..<50, idrEvery: 10)
        #expect(bench.lost(of: units[..<25], by: sink) == [])
        bench.failure = .diskFull
        #expect(bench.lost(of: units[25..<26], by: sink) == [25])
        bench.failure = nil
        #expect(bench.lost(of: units[26..<40], by: sink) == Array(26..<30))
        try sink.finish()
        #expect(bench.folder.names() == ["a-1.h264", "a-2.h264", "a-3.h264"])
        #expect(sink.summary.removed == 1)
    }

    @Test("old segments are removed while a segment grows, and not only when the next one begins")
    func prunesWhileGrowing() throws {
        let bench = SegmentBench()
        var retention = SegmentRetention()
        retention.bytes = 1_500_000
        let sink = try bench.recorder("a.h264", .frames(2), retention: retention)
        for number in 0..<2 {
            try sink.write(accessUnit(length: 400_000, isIDR: number == 0, frameNumber: number))
        }
        try sink.write(accessUnit(length: 600_000, frameNumber: 2))
        #expect(bench.folder.names() == ["a-1.h264", "a.h264"])
        try sink.write(accessUnit(length: 600_000, isIDR: false, frameNumber: 3))
        #expect(bench.folder.names() == ["a-1.h264"])
        #expect(bench.events.last == .removed(path: bench.folder.path("a.h264")))
        #expect(sink.summary.removed == 1)
        try sink.finish()
    }

    @Test("removes old segments at the start and while nothing is written, and reports copies")
    func maintenance() throws {
        let bench = SegmentBench()
        bench.wall = .now
        var retention = SegmentRetention()
        retention.age = .seconds(60)
        func write(_ count: Int) throws {
            let sink = try bench.recorder("a.h264", .frames(1), retention: retention)
            for number in 0..<count { try sink.write(accessUnit(frameNumber: number)) }
            try sink.finish()
        }
        try write(5)
        #expect(bench.folder.names().count == 5)
        bench.wall += .seconds(3600)
        let sink = try bench.recorder("a.h264", nil, retention: retention)
        #expect(sink.maintenanceInterval == .seconds(6))
        #expect(bench.folder.names().count == 3)
        sink.maintain()
        #expect(bench.folder.names().count == 1)
        sink.maintain()
        #expect(bench.folder.names().isEmpty)
        #expect(sink.summary.removed == 5)
        #expect(try bench.recorder("b.h264", nil).maintenanceInterval == nil)
    }

    @Test(
        "records where the file system has no locks, and warns once", arguments: [ENOLCK, EOPNOTSUPP, ENOSYS])
    func noLocks(code: Int32) throws {
        let bench = SegmentBench()
        bench.calls.lock = { _ in code }
        var retention = SegmentRetention()
        retention.count = 2
        let sink = try bench.recorder("a.h264", .frames(10), retention: retention)
        for unit in pictures(0..<40, idrEvery: 10) { try sink.write(unit) }
        try sink.finish()
        #expect(bench.folder.names() == ["a-2.h264", "a-3.h264"])
        let warnings = bench.events.filter(\.isWarning)
        #expect(warnings == [.unlocked(errno: code, folder: bench.folder.path(""))])
        #expect(warnings[0].description.contains("; record each name with one camrec at a time"))
    }

    @Test("reports a file that took a segment's place, once, and keeps it")
    func replacedLater() throws {
        let bench = SegmentBench()
        var retention = SegmentRetention()
        retention.count = 2
        let sink = try bench.recorder("a.h264", .frames(1), retention: retention)
        for number in 0..<2 { try sink.write(accessUnit(frameNumber: number)) }
        bench.folder.write("a.h264", [1])
        for number in 2..<10 { try sink.write(accessUnit(frameNumber: number)) }
        try sink.finish()
        #expect(bench.folder.names() == ["a-8.h264", "a-9.h264", "a.h264"])
        #expect(bench.events.filter(\.isWarning) == [.unrecognised(count: 1, folder: bench.folder.path(""))])
    }

    @Test("reports copies at the start, with their number and what to do")
    func copies() throws {
        let bench = SegmentBench()
        var retention = SegmentRetention()
        retention.count = 3
        do {
            let sink = try bench.recorder("a.h264", nil, retention: retention)
            try sink.write(accessUnit())
            try sink.finish()
        }
        let path = bench.folder.path("a.h264")
        let birth = FileFacts(path: path)?.birth
        repeat {
            unlink(path)
            bench.folder.write("a.h264", [1])
        } while FileFacts(path: path)?.birth == birth
        _ = try bench.recorder("a.h264", nil, retention: retention)
        let event = try #require(bench.events.last)
        #expect(event == .unrecognised(count: 1, folder: bench.folder.path("")) && event.isWarning)
        #expect(event.description.hasSuffix("'camrec adopt \(bench.folder.path(""))' takes them over"))
    }
}
