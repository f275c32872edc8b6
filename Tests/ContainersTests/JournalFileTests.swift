import CamPlatform
import Glibc
import TestSupport
import Testing
@testable import CamStorage
@testable import Containers

/// The file of a journal.
@Suite struct JournalFileTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.path(".a.camrec") }

    private func open() throws(OutputError) -> JournalFile { try JournalFile(path: path, owner: "a") }

    private func failure() -> OutputError.Kind? {
        do throws(OutputError) {
            _ = try open()
            return nil
        } catch { return error.kind }
    }

    @Test("returns its lines, and only one process has them at a time")
    func lines() throws {
        do {
            let file = try open()
            #expect(file.lines() == [])
            #expect(failure() == .journalInUse)
            try file.replace(by: ["one\n"])
            try file.append("two\n")
            #expect(failure() == .journalInUse)
        }
        #expect(try open().lines() == ["one", "two"])
    }

    @Test(
        "a file system without locks has no other recorder; only a lock that is taken has",
        arguments: [ENOLCK, EOPNOTSUPP, ENOSYS, EWOULDBLOCK])
    func noLock(code: Int32) throws {
        var calls = FileCalls()
        calls.lock = { _ in code }
        guard code != EWOULDBLOCK else {
            let error = #expect(throws: OutputError.self) {
                try JournalFile(path: path, owner: "a", calls: calls)
            }
            #expect(error?.kind == .journalInUse)
            return
        }
        let file = try JournalFile(path: path, owner: "a", calls: calls)
        try file.replace(by: ["one\n"])
        try file.append("two\n")
        #expect(file.lines() == ["one", "two"])
        #expect(file.lockFailure == code)
        #expect(try open().lockFailure == nil)
    }

    @Test("skips a line that was cut off, without harm to the next")
    func cutOff() throws {
        folder.write(".a.camrec", Array("# camrec segments 1\none\ntw".utf8))
        do {
            let file = try open()
            #expect(file.lines() == ["one"])
            try file.append("three\n")
        }
        #expect(try open().lines() == ["one", "tw", "three"])
    }

    @Test("keeps a damaged line, and all others")
    func damaged() throws {
        folder.write("a.h264", [1])
        let birth = try #require(FileFacts(path: folder.path("a.h264"))?.birth)
        let line = "\(birth.nanoseconds)\t1\ta.h264\n"
        folder.write(".a.h264.camrec", Array("# camrec segments 1\n12\tx\n\(line)".utf8))
        for _ in 0..<2 {
            let names = FileNamePattern(folder.path("a.h264"), expandsTime: true)
            #expect(try SegmentJournal(names: [names]).entries.count == 1)
        }
        #expect(folder.content(".a.h264.camrec") == Array("# camrec segments 1\n12\tx\n\(line)".utf8))
    }

    @Test(
        "refuses a link to someone's file as a journal, and leaves the file", arguments: ["", "password"])
    func hardLink(content: String) throws {
        folder.write("victim", Array(content.utf8))
        chmod(folder.path("victim"), 0o644)
        link(folder.path("victim"), path)
        #expect(failure() == .noJournal)
        #expect(folder.status("victim").st_mode & 0o777 == 0o644)
        #expect(folder.content("victim") == Array(content.utf8))
    }

    @Test("refuses a pipe in its place without waiting")
    func pipe() {
        mkfifo(path, 0o600)
        #expect(failure() == .noJournal)
    }

    @Test(
        "does not read a stranger's journal or link in a folder that others can write to",
        .enabled(if: geteuid() == 0, "needs root to give a file away"))
    func strangers() {
        folder.write(".a.camrec", Array("# camrec segments 1\n".utf8))
        chown(path, 65534, 65534)
        #expect(failure() == nil)
        chmod(folder.path(""), 0o1777)
        #expect(failure() == .untrustedJournal)
        unlink(path)
        symlink("/tmp", folder.path("elsewhere"))
        lchown(folder.path("elsewhere"), 65534, 65534)
        let beyond = #expect(throws: OutputError.self) {
            try JournalFile(path: folder.path("elsewhere/.a.camrec"), owner: "a")
        }
        #expect(beyond?.kind == .untrustedLink("elsewhere"))
    }
}
