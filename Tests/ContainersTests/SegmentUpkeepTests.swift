import CamPlatform
import Glibc
import TestSupport
import Testing
@testable import CamStorage
@testable import Containers

/// What a recording's upkeep removes and reports.
@Suite struct SegmentUpkeepTests {
    let bench = SegmentBench()

    private func upkeep(_ retention: SegmentRetention, in folder: String = "") throws -> SegmentUpkeep {
        var plan = SegmentPlan(names: bench.names(folder + "a.h264"), length: nil)
        plan.retention = retention
        return try SegmentUpkeep(plan, volume: Volume(folder: plan.names.folder), clock: bench.clock)
    }

    /// Makes a segment of a thousand bytes.
    private func record(_ name: String, _ upkeep: SegmentUpkeep) {
        bench.folder.write(name, Array(repeating: 1, count: 1000))
        #expect(upkeep.begin([bench.folder.path(name)]) == nil)
        _ = upkeep.end(bench.folder.path(name))
    }

    @Test("without limits nothing is removed, and there is no journal")
    func unlimited() throws {
        var upkeep = try upkeep(SegmentRetention())
        record("a.h264", upkeep)
        let events = upkeep.prune(size: .max) + upkeep.pruneByTime() + upkeep.makeRoom()
        #expect(events == [])
        #expect(Folder.names(in: bench.folder.path).contains("a.h264"))
        #expect(access(bench.folder.path(".a.h264.camrec"), F_OK) != 0)
    }

    @Test("removes and reports segments beyond a limit; an empty file is not a segment")
    func limits() throws {
        var retention = SegmentRetention()
        retention.count = 2
        var upkeep = try upkeep(retention)
        for name in ["a.h264", "a-1.h264"] { record(name, upkeep) }
        bench.folder.write("a-2.h264", [UInt8]())
        #expect(upkeep.begin([bench.folder.path("a-2.h264")]) == nil)
        #expect(upkeep.prune(size: 0) == [.removed(path: bench.folder.path("a.h264"))])
        _ = upkeep.end(bench.folder.path("a-2.h264"))
        #expect(upkeep.prune(size: 0) == [])
        #expect(upkeep.makeRoom() == [.removed(path: bench.folder.path("a-1.h264"))])
    }

    @Test("reports once that too little space is free, and again after there was room in between")
    func shortOfRoom() throws {
        let disk = try SmallFileSystem(bytes: 1 << 20)
        var plan = SegmentPlan(names: FileNamePattern(disk.path + "/a.h264", expandsTime: false), length: nil)
        plan.retention.free = .share(0.5)
        var upkeep = try SegmentUpkeep(plan, volume: Volume(folder: disk.path), clock: bench.clock)
        let stranger = disk.path + "/stranger"
        func occupy(_ bytes: Int) {
            let descriptor = open(stranger, O_WRONLY | O_CREAT, 0o600)
            #expect(posix_fallocate(descriptor, 0, bytes) == 0)
            close(descriptor)
        }
        for _ in 0..<2 {
            #expect(upkeep.prune(size: 0) == [])
            occupy(700_000)
            #expect(upkeep.prune(size: 0) == [.shortOfRoom(folder: disk.path)])
            #expect(upkeep.prune(size: 0) == [])
            unlink(stranger)
        }
    }

    @Test(
        "space that the disk does not have is refused, also while a camera is awaited: no segment is removed")
    func neverFree() throws {
        var plan = SegmentPlan(names: bench.names("a.h264"), length: nil)
        plan.retention.count = 10
        do {
            let former = try SegmentUpkeep(
                plan, volume: Volume(folder: bench.folder.path), clock: bench.clock)
            record("a.h264", former)
        }
        plan.retention.free = .bytes(1 << 60)
        #expect(RetentionWhileWaiting(plan, clock: bench.clock)?.maintain() == nil)
        #expect(throws: OutputError.self) {
            try SegmentUpkeep(plan, volume: Volume(folder: bench.folder.path), clock: bench.clock)
        }
        #expect(Folder.names(in: bench.folder.path).contains("a.h264"))
    }

    @Test("segments on a disk that is no longer mounted are left alone")
    func diskGone() throws {
        mkdir(bench.folder.path("disk"), 0o755)
        guard mount("camrec-test", bench.folder.path("disk"), "tmpfs", 0, nil) == 0 else {
            try Test.cancel("mounting a file system needs root")
        }
        var retention = SegmentRetention()
        (retention.count, retention.age) = (1, .seconds(60))
        var upkeep = try upkeep(retention, in: "disk/")
        for name in ["disk/a.h264", "disk/a-1.h264"] { record(name, upkeep) }
        #expect(!upkeep.isDiskGone)
        umount2(bench.folder.path("disk"), Int32(MNT_DETACH))
        #expect(upkeep.isDiskGone)
        bench.wall = .now + .seconds(3600)
        let events = upkeep.prune(size: 0) + upkeep.pruneByTime() + upkeep.makeRoom()
        #expect(events == [])
    }
}
