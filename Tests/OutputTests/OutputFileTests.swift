import Files
import Glibc
import Testing
import Threading

@testable import Output

/// Nothing is overwritten that was not to be, whoever else is at work in the folder.
@Suite struct OutputFileTests {
    private let folder = TemporaryFolder()

    private func kind(_ path: String, overwrite: Bool = false) -> OutputError.Kind? {
        do throws(OutputError) {
            let (descriptor, _) = try OutputFile.open(path, overwrite: overwrite)
            close(descriptor)
            return nil
        } catch { return error.kind }
    }

    @Test("a file that turned up in a pipe's place is refused once it is open")
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

    /// Without the look at what was opened the victim is truncated in a few of these tries.
    @Test("a pipe and a file that are exchanged all the time never cost the file its content")
    func exchanged() throws {
        folder.write("victim", [1, 2, 3])
        let (path, pipe) = (folder.path("out"), folder.path("pipe"))
        try #require(mkfifo(pipe, 0o600) == 0 && link(pipe, path) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let end = try #require(Interruption(patience: 0))
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
                // Two names of one file are left as they are (rename(2)).
                unlink(root + "/next")
            }
        }
        let isExchanging = exchanger != nil
        try #require(isExchanging)
        let interruption = try #require(Interruption(patience: 0))
        for _ in 0..<2000 {
            guard
                let file = try? OutputFile(path: path, overwrite: false, interruption: interruption)
            else { continue }
            try? file.write([0])
            file.keep()
            try? file.close()
            var byte: UInt8 = 0
            read(reader, &byte, 1)
        }
        end.raise()
        if let thread = exchanger.take() { thread.join() }
        #expect(folder.content("victim") == [1, 2, 3])
    }

    @Test("named pipes, character devices and standard output's path are written as they are")
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

    @Test("links to folders and files lead there")
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

    @Test(
        "a stranger's link in a folder that others can write to is not followed",
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
    }

    @Test("an empty file is not removed where another has taken its name")
    func removesItsOwnOnly() throws {
        let interruption = try #require(Interruption(patience: 0))
        do {
            let file = try OutputFile(path: folder.path("a"), overwrite: false, interruption: interruption)
            unlink(folder.path("a"))
            folder.write("a", [7])
            _ = file
        }
        #expect(folder.content("a") == [7])
    }
}
