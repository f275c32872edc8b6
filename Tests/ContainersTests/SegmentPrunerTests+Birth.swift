import CamPlatform
import Glibc
import TestSupport
import Testing
@testable import CamStorage

/// File systems that know no time of creation, such as NFS, and what cannot be identified there.
extension SegmentPrunerTests {
    private var birthless: FileCalls { calls { $0.birth = nil } }

    /// A file system that reports other facts about files.
    private func calls(_ change: @escaping @Sendable (inout FileFacts) -> Void) -> FileCalls {
        var calls = FileCalls()
        calls.facts = { (folder, name) throws(FileLocation.Failure) in
            var facts = try FileFacts.read(name, in: folder)
            change(&facts)
            return facts
        }
        return calls
    }

    /// A file system that reports times of creation exactly, as it does until the next mount.
    private var exact: FileCalls { calls { $0.birth = WallTime(nanoseconds: 1_700_000_001_123_456_789) } }

    /// The file system after its next mount: it has stored the times in units, and, like FAT, in local time.
    private func remounted(unit: Duration, zone: Duration = .zero) -> FileCalls {
        calls { facts in
            let exact: Int64 = 1_700_000_001_123_456_789
            facts.birth = WallTime(nanoseconds: exact - exact % unit.inNanoseconds) + zone
            facts.modification += zone
        }
    }

    /// Puts another file of the same size, and perhaps the same number, in a segment's place.
    private func replace(_ name: String) {
        let former = FileFacts(path: folder.path(name))?.modification
        repeat {
            unlink(folder.path(name))
            folder.write(name, Array(repeating: 2, count: 1000))
        } while FileFacts(path: folder.path(name))?.modification == former
    }

    @Test("without times of creation, removes its own segments, earlier runs' included, and their timestamps")
    func birthlessOwn() throws {
        do {
            let pruner = try SegmentPruner(
                SegmentRetention(), names: [names(), names("a.txt")], calls: birthless, space: { nil })
            for name in ["a.h264", "a.txt"] { folder.write(name, [1]) }
            _ = pruner.begin([folder.path("a.h264"), folder.path("a.txt")])
            // They grow after they were noted.
            for name in ["a.h264", "a.txt"] { folder.write(name, [1, 2]) }
            pruner.end(size: 2)
        }
        try record(["a-1.h264"], calls: birthless)
        let pruner = try pruner(count: 1, calls: birthless)
        #expect(pruner.foreignCount == 0)
        #expect(pruned(pruner) == ["a.h264", "a-1.h264"])
        #expect(folder.names() == [])
    }

    @Test("without times of creation, keeps a file that replaced a segment, even one of its size")
    func birthlessReplaced() throws {
        try record(["a.h264", "a-1.h264", "a-2.h264"], calls: birthless)
        replace("a.h264")
        let pruner = try pruner(count: 1, calls: birthless)
        #expect(pruner.foreignCount == 1)
        replace("a-1.h264")
        #expect(pruned(pruner) == ["a-2.h264"])
        #expect(pruner.foreignCount == 2)
        #expect(folder.names() == ["a-1.h264", "a.h264"])
    }

    @Test(
        "keeps and reports what has the name of a segment that cannot be identified",
        arguments: ["-", "1000"])
    func unidentified(size: String) throws {
        folder.write("a.h264", Array(repeating: 1, count: 1000))
        let journal = Array("# camrec segments 1\n0\t\(size)\ta.h264\n".utf8)
        folder.write(".a.h264.camrec", journal)
        for _ in 0..<2 {
            let pruner = try pruner(count: 1, calls: birthless)
            #expect(pruner.foreignCount == 1)
            #expect(pruned(pruner) == [])
        }
        #expect(folder.names() == ["a.h264"])
        #expect(folder.content(".a.h264.camrec") == journal)
    }

    @Test("a recorder that was killed leaves a segment that nothing identifies without a time of creation")
    func birthlessKilled() throws {
        do {
            let pruner = try pruner(calls: birthless)
            folder.write("a.h264", [1])
            _ = pruner.begin([folder.path("a.h264")])
        }
        let pruner = try pruner(count: 1, calls: birthless)
        #expect(pruner.foreignCount == 1)
        #expect(pruned(pruner) == [])
        #expect(folder.names() == ["a.h264"])
    }

    // MARK: Times of creation that a mount changes

    /// Records three segments with timestamps.
    private func recordWithTimestamps() throws {
        let pruner = try SegmentPruner(
            SegmentRetention(), names: [names(), names("a.txt")], calls: exact, space: { nil })
        for name in ["a", "a-1", "a-2"] {
            for suffix in ["h264", "txt"] {
                folder.write("\(name).\(suffix)", Array(repeating: 1, count: 1000))
            }
            _ = pruner.begin([folder.path("\(name).h264"), folder.path("\(name).txt")])
            pruner.end(size: 1000)
        }
    }

    @Test(
        "removes its own segments after a mount that stores times of creation less exactly, or in another zone",
        arguments: [
            (.nanoseconds(100), .zero), (.milliseconds(10), .zero), (.seconds(2), .zero),
            (.milliseconds(10), .seconds(3600)), (.milliseconds(10), .seconds(-3600)),
            (.milliseconds(10), .seconds(5 * 3600 + 2700)), (.milliseconds(10), .seconds(-26 * 3600)),
        ] as [(Duration, Duration)])
    func remountedOwn(unit: Duration, zone: Duration) throws {
        try recordWithTimestamps()
        let pruner = try pruner(count: 2, calls: remounted(unit: unit, zone: zone))
        #expect(pruner.foreignCount == 0)
        #expect(pruned(pruner) == ["a.h264", "a-1.h264"])
        #expect(folder.names() == ["a-2.h264", "a-2.txt"])
    }

    @Test(
        "after such a mount, keeps and reports files that another created, or that may be another's",
        arguments: [
            (.milliseconds(10), .seconds(900) + .milliseconds(10)), (.milliseconds(10), .milliseconds(10)),
            (.milliseconds(10), .seconds(1)), (.milliseconds(10), .seconds(27 * 3600)),
            (.seconds(2), .seconds(900)), (.nanoseconds(1), .seconds(3600)),
        ] as [(Duration, Duration)])
    func remountedForeign(unit: Duration, zone: Duration) throws {
        try record(["a.h264"], calls: exact)
        let pruner = try pruner(count: 1, calls: remounted(unit: unit, zone: zone))
        #expect(pruner.foreignCount == 1)
        #expect(pruned(pruner) == [])
        #expect(folder.names() == ["a.h264"])
    }

    @Test("in another zone, or in units of seconds, a file needs the recorded size")
    func remountedSize() throws {
        let mounts = [
            remounted(unit: .milliseconds(10), zone: .seconds(3600)), remounted(unit: .seconds(2)),
        ]
        for calls in mounts {
            unlink(folder.path(".a.h264.camrec"))
            folder.write("a.h264", [1])
            do {
                // Killed before it noted the size.
                let pruner = try pruner(calls: exact)
                _ = pruner.begin([folder.path("a.h264")])
            }
            #expect(pruned(try pruner(count: 1, calls: calls)) == [])
            #expect(folder.names() == ["a.h264"])
            unlink(folder.path(".a.h264.camrec"))
            try record(["a.h264"], calls: exact)
            folder.write("a.h264", [1])
            #expect(pruned(try pruner(count: 1, calls: calls)) == [])
            #expect(folder.names() == ["a.h264"])
            unlink(folder.path("a.h264"))
        }
    }

    @Test("a killed recorder's last segment is known after a mount that stores 10 ms")
    func remountedKilled() throws {
        do {
            let pruner = try pruner(calls: exact)
            folder.write("a.h264", [1])
            _ = pruner.begin([folder.path("a.h264")])
        }
        #expect(pruned(try pruner(count: 1, calls: remounted(unit: .milliseconds(10)))) == ["a.h264"])
    }

    @Test("a segment is as old as it was before the mount in another zone", arguments: [-3600, 3600])
    func remountedAge(zone: Int) throws {
        try record(["a.h264"], calls: exact)
        let calls = remounted(unit: .milliseconds(10), zone: .seconds(zone))
        let written = try #require(FileFacts(path: folder.path("a.h264"))).modification
        let pruner = try pruner(age: .seconds(60), calls: calls)
        #expect(pruned(pruner, now: written + .seconds(59)) == [])
        #expect(pruned(pruner, now: written + .seconds(61)) == ["a.h264"])
    }

    @Test("adopts no file for a segment whose size is unknown")
    func adoptsNothingUnknown() throws {
        do {
            let pruner = try pruner()
            folder.write("a.h264", [1])
            _ = pruner.begin([folder.path("a.h264")])
        }
        let former = birth("a.h264")
        repeat {
            unlink(folder.path("a.h264"))
            folder.write("a.h264", [1, 2, 3])
        } while birth("a.h264") == former
        let result = try SegmentAdoption.adopt(in: folder.path(""))
        #expect(result == SegmentAdoption.Result(journals: 1, adopted: 0, left: 1))
        #expect(pruned(try pruner(count: 1)) == [])
        #expect(folder.names() == ["a.h264"])
    }
}
