import CamPlatform
import Glibc
import TestSupport
import Testing
@testable import Containers

/// Only the intended file is overwritten, whatever other programs do in the folder.
@Suite struct OutputFileTests {
    private let folder = TemporaryFolder()

    private func kind(_ path: String, overwrite: Bool = false) -> OutputError.Kind? {
        do throws(OutputError) {
            let (descriptor, _) = try OutputFile.open(path, overwrite: overwrite)
            close(descriptor)
            return nil
        } catch { return error.kind }
    }

    @Test("refuses a file that replaced a pipe, once it is open")
    func examines() throws {
        folder.write("victim", [1, 2, 3])
        let descriptor = open(folder.path("victim"), O_WRONLY)
        defer { close(descriptor) }
        func examine(overwrite: Bool) throws {
            try OutputFile.examine(descriptor, path: "pipe", overwrite: overwrite)
        }
        #expect(throws: OutputError(.exists, output: "pipe")) { try examine(overwrite: false) }
        try examine(overwrite: true)
    }

    /// Without the check of the opened file, the victim is truncated in a few of these attempts.
    @Test("constantly swapping a pipe and a file never costs the file its content")
    func exchanged() throws {
        folder.write("victim", [1, 2, 3])
        let (path, pipe) = (folder.path("out"), folder.path("pipe"))
        try #require(mkfifo(pipe, 0o600) == 0 && link(pipe, path) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let end = try #require(CancellationFlag(patience: .seconds(0)))
        let root = folder.path("")
        var exchanger = WorkerThread {
            var isLink = false
            while !end.isRaised {
                // The file itself under another name, or a link to it.
                if isLink {
                    symlink("victim", root + "/next")
                } else {
                    link(root + "/victim", root + "/next")
                }
                isLink.toggle()
                rename(root + "/next", path)
                link(pipe, root + "/next")
                rename(root + "/next", path)
                // Two names of one file are left unchanged (rename(2)).
                unlink(root + "/next")
            }
        }
        let isExchanging = exchanger != nil
        try #require(isExchanging)
        let cancellation = try #require(CancellationFlag(patience: .seconds(0)))
        var (writes, refusals) = (0, 0)
        // On a busy machine the other thread may be late.
        while writes + refusals < 2000 || writes == 0 || refusals == 0, writes + refusals < 1_000_000 {
            guard
                let file = try? OutputFile(path: path, overwrite: false, cancellation: cancellation)
            else {
                refusals += 1
                continue
            }
            writes += 1
            try? file.write([0])
            file.keep()
            try? file.close()
            var byte: UInt8 = 0
            read(reader, &byte, 1)
        }
        end.raise()
        if let thread = exchanger.take() { thread.join() }
        #expect(folder.content("victim") == [1, 2, 3])
        // Both were there when it looked.
        #expect(writes > 0 && refusals > 0, "\(writes) writes, \(refusals) refusals")
    }

    @Test("writes to named pipes, character devices and standard output's path as they are")
    func streams() throws {
        try #require(mkfifo(folder.path("pipe"), 0o600) == 0)
        #expect(kind(folder.path("pipe")) == .noReader)
        let reader = open(folder.path("pipe"), O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        symlink("pipe", folder.path("link"))
        for path in [folder.path("pipe"), folder.path("link"), "/dev/null", "/proc/self/fd/\(reader)"] {
            #expect(kind(path) == nil, "\(path)")
        }
    }

    @Test("follows links to folders and files")
    func links() {
        mkdir(folder.path("real"), 0o755)
        symlink("real", folder.path("relative"))
        symlink(folder.path("real"), folder.path("absolute"))
        symlink("loop", folder.path("loop"))
        for name in ["relative/a", "absolute/../relative/./b", "real//c"] {
            #expect(kind(folder.path(name)) == nil)
        }
        #expect(folder.names(in: "real") == ["a", "b", "c"])
        symlink("real/a", folder.path("file"))
        #expect(kind(folder.path("file")) == .exists)
        #expect(kind(folder.path("file"), overwrite: true) == nil)
        #expect(kind(folder.path("loop/a")) == .notCreated(errno: ELOOP))
        #expect(kind(folder.path("real/a/b")) == .notCreated(errno: ENOTDIR))
        #expect(kind(folder.path("nowhere/b")) == .notCreated(errno: ENOENT))
        #expect(kind(folder.path("new/")) == .notCreated(errno: ENOENT))
        #expect(kind(folder.path("real/"), overwrite: true) == .notCreated(errno: EISDIR))
    }

    @Test("a link to nothing creates the file there, and an empty one is removed there")
    func danglingLink() throws {
        mkdir(folder.path("disk"), 0o755)
        symlink("disk/film", folder.path("latest"))
        #expect(kind(folder.path("latest")) == nil)
        #expect(folder.names(in: "disk") == ["film"])
        unlink(folder.path("disk/film"))
        let cancellation = try #require(CancellationFlag(patience: .seconds(0)))
        do { _ = try OutputFile(path: folder.path("latest"), overwrite: false, cancellation: cancellation) }
        #expect(folder.names(in: "disk") == [])
        symlink("none/film", folder.path("nowhere"))
        #expect(kind(folder.path("nowhere")) == .notCreated(errno: ENOENT))
    }

    @Test("a link's target need not be UTF-8")
    func latin1() {
        let target = folder.path("caf").utf8CString.dropLast() + [CChar(truncatingIfNeeded: 0xE9), 0]
        symlink(Array(target), folder.path("link"))
        #expect(kind(folder.path("link")) == nil)
        var status = stat()
        #expect(stat(Array(target), &status) == 0)
        unlink(Array(target))
    }

    @Test(
        "does not create folders through a stranger's link",
        .enabled(if: geteuid() == 0, "needs root to make a stranger's link"))
    func strangersFolder() throws {
        mkdir(folder.path("victim"), 0o755)
        mkdir(folder.path("shared"), 0o755)
        chmod(folder.path("shared"), 0o1777)
        symlink("../victim", folder.path("shared/link"))
        lchown(folder.path("shared/link"), 65534, 65534)
        let failure = #expect(throws: FileLocation.Failure.self) {
            try Folder.make(folder.path("shared/link/a/b"))
        }
        #expect(failure?.link == "link")
        #expect(folder.names(in: "victim") == [])
        try Folder.make(folder.path("shared/a/b"))
        #expect(FileIdentity.isFile(folder.path("shared/a/b")) == false)
    }

    @Test(
        "does not follow a stranger's link in a folder that others can write to",
        .enabled(if: geteuid() == 0, "needs root to make a stranger's link"))
    func strangersLink() {
        folder.write("victim", [1, 2, 3])
        mkdir(folder.path("shared"), 0o755)
        mkdir(folder.path("own"), 0o755)
        for name in ["shared/file", "own/file"] { symlink("../victim", folder.path(name)) }
        symlink("../own", folder.path("shared/folder"))
        for name in ["shared/file", "shared/folder", "own/file"] { lchown(folder.path(name), 65534, 65534) }
        chmod(folder.path("shared"), 0o1777)
        #expect(kind(folder.path("shared/file"), overwrite: true) == .untrustedLink("file"))
        #expect(kind(folder.path("shared/folder/new")) == .untrustedLink("folder"))
        #expect(kind(folder.path("own/file"), overwrite: true) == nil)
        lchown(folder.path("shared/file"), geteuid(), getegid())
        #expect(kind(folder.path("shared/file"), overwrite: true) == nil)
        // Only the folder's owner may.
        chown(folder.path("shared"), 65534, 65534)
        lchown(folder.path("shared/file"), 65534, 65534)
        #expect(kind(folder.path("shared/file"), overwrite: true) == nil)
        lchown(folder.path("shared/file"), 65533, 65533)
        #expect(kind(folder.path("shared/file"), overwrite: true) == .untrustedLink("file"))
    }

    @Test("does not remove an empty file if another has taken its name")
    func removesItsOwnOnly() throws {
        let cancellation = try #require(CancellationFlag(patience: .seconds(0)))
        do {
            let file = try OutputFile(path: folder.path("a"), overwrite: false, cancellation: cancellation)
            unlink(folder.path("a"))
            folder.write("a", [7])
            _ = file
        }
        #expect(folder.content("a") == [7])
    }
}
