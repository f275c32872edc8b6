import CamPlatform
import Glibc
import TestSupport
import Testing
@testable import CamStorage

/// File systems that know no time of creation, such as NFS, and what cannot be identified there.
extension SegmentPrunerTests {
    private var birthless: FileCalls {
        var calls = FileCalls()
        calls.facts = {
            var facts = FileFacts(path: $1, in: $0)
            facts?.birth = nil
            return facts
        }
        return calls
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
