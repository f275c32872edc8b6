import CamPlatform
import Glibc
import CamRecorder
import Testing
import TestSupport

/// A newer version of the program that is installed while it records.
@Suite struct SuccessionTests {
    @Test("ends at a cut only where a newer version continues, without recording anything twice")
    func endsAtCut() {
        func endsAtCut(
            isRestarted: Bool = true, isSegmented: Bool = true, isLive: Bool = true,
            limits: RecordingLimits = RecordingLimits(duration: .seconds(10))
        ) -> Bool {
            Succession(isRestarted: isRestarted, isSegmented: isSegmented, isLive: isLive, limits: limits)
                .endsAtCut
        }
        #expect(endsAtCut())
        #expect(!endsAtCut(isRestarted: false))
        #expect(!endsAtCut(isSegmented: false))
        #expect(!endsAtCut(isLive: false))
        #expect(!endsAtCut(limits: RecordingLimits(frames: 100)))
    }

    @Test("the status says what the newer version waits for")
    func note() {
        let limits = RecordingLimits()
        let segmented = Succession(isRestarted: true, isSegmented: true, isLive: true, limits: limits)
        let single = Succession(isRestarted: true, isSegmented: false, isLive: true, limits: limits)
        #expect(segmented.note == "a newer version waits for the next segment")
        #expect(single.note == "a newer version waits for a restart")
    }

    @Test("a program is replaced when its path leads to another file, not when the file is removed")
    func replaced() throws {
        let folder = TemporaryFolder()
        let (path, link) = (folder.path("camrec"), folder.path("exe"))
        folder.write("camrec", "old")
        try #require(symlink(path, link) == 0)
        let program = try #require(ProgramFile(link: link))
        #expect(!program.isReplaced)
        try #require(rename(path, folder.path("moved")) == 0)
        #expect(!program.isReplaced, "removed")
        folder.write("camrec", "new")
        #expect(program.isReplaced)
    }

    @Test("a program that is replaced while it starts is replaced")
    func replacedEarly() throws {
        let folder = TemporaryFolder()
        folder.write("camrec", "old")
        let descriptor = open(folder.path("camrec"), O_RDONLY)
        defer { close(descriptor) }
        folder.write("new", "new")
        try #require(rename(folder.path("new"), folder.path("camrec")) == 0)
        // As /proc/self/exe, it leads to the file that is gone.
        let program = try #require(ProgramFile(link: "/proc/self/fd/\(descriptor)"))
        #expect(program.isReplaced)
    }

    @Test("a program without a file is not found")
    func noFile() { #expect(ProgramFile(link: "/nowhere/exe") == nil) }
}
