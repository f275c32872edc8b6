import CamPlatform
import Glibc
import TestSupport
import Testing
@testable import Containers

/// A file that has no name until it is complete.
@Suite struct StagedFileTests {
    private let folder = TemporaryFolder()

    /// Hidden ones, too.
    private var allNames: [String] {
        Folder.names(in: folder.path("")).filter { ![".", ".."].contains($0) }
    }

    @Test("shows nothing until it is published, and leaves nothing otherwise", arguments: [false, true])
    func unnamed(isPublished: Bool) throws {
        let location = try FileLocation(folder.path("out.mp4"))
        let probe = location.openUnnamed(mode: 0o600)
        if probe >= 0 { close(probe) }
        do {
            let file = try StagedFile(at: location)
            #expect(write(file.descriptor, "whole", 5) == 5)
            // If the file system cannot create files without names, there is a hidden one.
            #expect(probe >= 0 ? allNames == [] : allNames.allSatisfy { $0.hasPrefix(".camrec-") })
            if isPublished { try file.publish(overwrite: false) }
            close(file.descriptor)
        }
        #expect(allNames == (isPublished ? ["out.mp4"] : []))
        #expect(folder.content("out.mp4") == (isPublished ? Array("whole".utf8) : nil))
    }

    // MARK: File systems that lack something

    /// A file system that fails with a code where others have files without names, links, or renaming to a new name.
    private func calls(
        _ code: Int32, unnamed: Bool = false, links: Bool = false, renames: Bool = false
    ) -> FileCalls {
        var calls = FileCalls()
        if !unnamed {
            calls.openUnnamed = { _, _ in -code }
        }
        if !links {
            calls.link = { _, _, _ in code }
            calls.linkUnnamed = { _, _, _ in code }
        }
        if !renames { calls.renameNew = { _, _, _ in code } }
        return calls
    }

    /// Writes a file as a recording does.
    private func publish(_ calls: FileCalls, overwrite: Bool = false) throws {
        let location = try FileLocation(folder.path("out.mp4"))
        let file: StagedFile
        do throws(OutputError.Kind) { file = try StagedFile(at: location, calls: calls) } catch {
            throw error
        }
        defer { close(file.descriptor) }
        let content = [UInt8](repeating: 7, count: 150_000)
        try #require(write(file.descriptor, content, content.count) == content.count)
        try file.publish(overwrite: overwrite)
        #expect(folder.content("out.mp4") == content)
    }

    @Test(
        "gets its name without files without names, links or new names in every combination",
        arguments: [EINVAL, ENOSYS, EPERM, EOPNOTSUPP], [false, true])
    func fallbacks(code: Int32, overwrite: Bool) throws {
        for unnamed in [false, true] {
            for (links, renames) in [(false, false), (false, true), (true, false)] {
                if overwrite { folder.write("out.mp4", [1]) }
                let calls = calls(code, unnamed: unnamed, links: links, renames: renames)
                try publish(calls, overwrite: overwrite)
                #expect(allNames == ["out.mp4"])
                unlink(folder.path("out.mp4"))
            }
        }
    }

    @Test("replaces nothing that has taken its name meanwhile, in whichever way it gets it")
    func taken() throws {
        folder.write("out.mp4", [1])
        for unnamed in [false, true] {
            for (links, renames) in [(false, false), (false, true), (true, false)] {
                let calls = calls(EPERM, unnamed: unnamed, links: links, renames: renames)
                let error = #expect(throws: OutputError.Kind.self) { try publish(calls) }
                #expect(error == .exists)
                #expect(allNames == ["out.mp4"])
                #expect(folder.content("out.mp4") == [1])
            }
        }
    }

    @Test(
        "other failures end the attempt, and the complete file keeps the name in the message")
    func kept() throws {
        var calls = calls(EPERM, links: true)
        calls.renameNew = { _, _, _ in EIO }
        let error = #expect(throws: OutputError.Kind.self) { try publish(calls) }
        guard case .notPublished(EIO, let path)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(allNames.map { folder.path($0) } == [path])
        #expect(contentOfFile(path)?.count == 150_000)
        let text = OutputError(.notPublished(errno: EIO, keptAs: path), output: "out.mp4").description
        #expect(text.contains("rename the complete file, \(path)"))
    }

    @Test("a copy that fails is removed")
    func copyFails() throws {
        let disk = try SmallFileSystem(bytes: 256 << 10)
        let location = try FileLocation("\(disk.path)/out.mp4")
        let file = try StagedFile(at: location, calls: calls(EPERM, unnamed: true))
        defer { close(file.descriptor) }
        let content = [UInt8](repeating: 7, count: 150_000)
        try #require(write(file.descriptor, content, content.count) == content.count)
        let error = #expect(throws: OutputError.Kind.self) { try file.publish(overwrite: false) }
        #expect(error == .lost(because: .diskFull))
        #expect(Folder.names(in: disk.path).count == 2)
    }

    @Test("without /proc the content is copied", arguments: [false, true])
    func withoutProcessFolder(overwrite: Bool) throws {
        var calls = FileCalls()
        calls.linkUnnamed = { _, _, _ in ENOENT }
        try publish(calls, overwrite: overwrite)
        #expect(allNames == ["out.mp4"])
        #expect(folder.content("out.mp4")?.count == 150_000)
    }

    @Test("a complete file that gets no name is said to be lost", arguments: [EIO, ENOSPC])
    func lost(code: Int32) throws {
        var calls = calls(EPERM, unnamed: true)
        calls.linkUnnamed = { _, _, _ in code }
        let error = #expect(throws: OutputError.Kind.self) { try publish(calls) }
        #expect(error == .lost(because: .notCreated(errno: code)))
        #expect(allNames == [])
    }

    @Test("the message of a loss says what is lost, why, and what to do; the exit code is that of the cause")
    func lossInWords() {
        func error(_ cause: OutputError.Kind) -> OutputError {
            OutputError(.lost(because: cause), output: "a.mp4")
        }
        #expect(
            error(.diskFull).description
                == "a.mp4: the finished file, which had no name yet, is lost: the disk is full; free some space and "
                + "try again")
        #expect(
            error(.notCreated(errno: EROFS)).description.hasPrefix(
                "a.mp4: the finished file, which had no name yet, is lost: cannot create a.mp4: Read-only file"
            ))
        #expect(error(.diskFull).kind.isFullDisk && !error(.diskFull).isCreation)
        #expect(error(.notCreated(errno: EROFS)).isCreation)
        #expect(error(.notCreated(errno: EROFS)).condition == "read-only")
    }

    @Test("a name that the file system refuses is named with the character")
    func refusedName() {
        for kind in [OutputError.Kind.notCreated(errno: EINVAL), .notContinued(errno: EINVAL)] {
            #expect(
                OutputError(kind, output: "/mnt/12:30.h264").description
                    == "cannot create /mnt/12:30.h264: the file system allows no ':' in names; use another name"
            )
        }
    }
}
