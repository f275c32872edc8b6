import CamPlatform
import Glibc
import TestSupport
import Testing
@testable import CamStorage
@testable import Containers

/// Recordings whose names lead to other files than those that the journal lists.
extension SegmentPrunerTests {
    /// The effect of copying a file to another disk: the same content, created at another time.
    private func copy(_ name: String) {
        guard let content = folder.content(name), let birth = birth(name) else { return }
        repeat {
            unlink(folder.path("copy"))
            folder.write("copy", content)
        } while self.birth("copy") == birth
        rename(folder.path("copy"), folder.path(name))
    }

    @Test("never removes or forgets copies, however often camrec runs; once adopted, they are its own")
    func adoption() throws {
        let files = ["a.h264", "a-1.h264", "a-2.h264"]
        try record(files)
        for file in files { copy(file) }
        for _ in 0..<3 {
            let pruner = try pruner(count: 1)
            #expect(pruner.foreignCount == 3)
            #expect(pruned(pruner) == [])
        }
        let result = try SegmentAdoption.adopt(in: folder.path(""))
        #expect(result == SegmentAdoption.Result(journals: 1, adopted: 3, left: 0))
        let pruner = try pruner(count: 1)
        #expect(pruner.foreignCount == 0)
        #expect(pruned(pruner) == files)
        #expect(folder.names() == [])
    }

    @Test("a reused name leads to camrec's own file, not to a copy")
    func reusedName() throws {
        try record(["a.h264"])
        #expect(pruned(try pruner(count: 1)) == ["a.h264"])
        try record(["a.h264"])
        #expect(try pruner(count: 2).foreignCount == 0)
    }

    @Test(
        "leaves copies of another size alone, and keeps those not there yet"
    )
    func partialAdoption() throws {
        try record(["a.h264", "a-1.h264", "a-2.h264"])
        for file in ["a.h264", "a-1.h264", "a-2.h264"] { copy(file) }
        folder.write("a.h264", [1, 2, 3])
        unlink(folder.path("a-1.h264"))
        let result = try SegmentAdoption.adopt(in: folder.path(""))
        #expect(result == SegmentAdoption.Result(journals: 1, adopted: 1, left: 1, missing: 1))
        // The rest of the copy comes later.
        folder.write("a-1.h264", Array(repeating: 1, count: 1000))
        let rest = try SegmentAdoption.adopt(in: folder.path(""))
        #expect(rest == SegmentAdoption.Result(journals: 1, adopted: 1, left: 1))
        unlink(folder.path("a-1.h264"))
        #expect(pruned(try pruner(count: 1)) == ["a-2.h264"])
        #expect(folder.names() == ["a.h264"])
    }

    @Test("does not adopt the recordings of a running recorder, and reports a folder without any")
    func noAdoption() throws {
        #expect(try SegmentAdoption.adopt(in: folder.path("")) == SegmentAdoption.Result())
        let pruner = try pruner(count: 1)
        let error = #expect(throws: OutputError.self) { try SegmentAdoption.adopt(in: folder.path("")) }
        #expect(error?.kind == .journalInUse)
        withExtendedLifetime(pruner) {}
    }

    @Test("only the owner can open the journal, and so lock it, even one of an earlier version")
    func journalMode() throws {
        try record(["a.h264"])
        #expect(folder.status(".a.h264.camrec").st_mode & 0o777 == 0o600)
        chmod(folder.path(".a.h264.camrec"), 0o644)
        let pruner = try pruner(count: 1)
        #expect(folder.status(".a.h264.camrec").st_mode & 0o777 == 0o600)
        withExtendedLifetime(pruner) {}
    }

    @Test(
        "a journal stays its owner's if root adopts",
        .enabled(if: geteuid() == 0, "needs root to give a file away"))
    func journalOwner() throws {
        try record(["a.h264"])
        copy("a.h264")
        chown(folder.path(".a.h264.camrec"), 65534, 65534)
        #expect(try SegmentAdoption.adopt(in: folder.path("")).adopted == 1)
        #expect(folder.status(".a.h264.camrec").st_uid == 65534)
    }

    @Test("cannot adopt a missing folder, or a file that only has a journal's name")
    func badAdoption() {
        let missing = #expect(throws: OutputError.self) { try SegmentAdoption.adopt(in: folder.path("none")) }
        #expect(missing?.kind == .notRead(errno: ENOENT))
        folder.write(".a.camrec", Array("birth certificates\n".utf8))
        let strange = #expect(throws: OutputError.self) { try SegmentAdoption.adopt(in: folder.path("")) }
        #expect(strange?.kind == .noJournal)
        #expect(folder.content(".a.camrec") == Array("birth certificates\n".utf8))
    }
}
