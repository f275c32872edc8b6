import Glibc
import CamRecorder
import CamCommandLine
import Testing
import CamPlatform

@testable import camrec

/// Errors that a recording would encounter later are reported before a device is opened.
@Suite struct PreflightTests {
    private func failure(_ arguments: String...) throws -> RecordingError? {
        let command = try RecordCommand.parse(arguments)
        do throws(RecordingError) {
            try command.preflight(at: WallTime(seconds: 0))
            return nil
        } catch { return error }
    }

    @Test(
        "refuses a place used twice",
        arguments: [
            (["same.h264", "same.h264"], "same.h264: given twice: it is also an output; use another name"),
            (
                ["same.h264", "./same.h264"],
                "./same.h264: given twice: it is also an output; use another name"
            ),
            (["/tmp/x.h264", "/tmp//./x.h264"], "given twice: it is also an output"),
            (["--report=a.h264", "a.h264"], "a.h264: given twice: it is also an output"),
            (["--timestamps=a.h264", "a.h264"], "a.h264: given twice: it is also an output"),
            (["--report=r", "--timestamps=r", "a.h264"], "r: given twice: it is also --timestamps"),
            (["--control-socket=r", "--report=r", "a.h264"], "r: given twice: it is also --report"),
            (["--control-socket=r", "--listen=unix:r", "a.h264"], "r: given twice: it is also a socket"),
            (
                ["--device=a.y4m", "--codec=h264", "--report=a.y4m", "a.h264"],
                "a.y4m: given twice: it is also the source"
            ),
            (["--utc", "%Y.h264", "1970.h264"], "1970.h264: given twice: it is also an output"),
            (["--utc", "--report=%Y.h264", "1970.h264"], "1970.h264: given twice: it is also an output"),
            (["--segment=1m", "%Y.h264", "%Y.h264"], "given twice: it is also an output"),
            (
                ["--segment=1m", "--timestamps=t", "--report=t", "%Y.h264"],
                "t: given twice: it is also --timestamps"
            ),
            (["nowhere/a.h264", "nowhere/./a.h264"], "given twice: it is also an output"),
            (["--settings=a.h264", "a.h264"], "a.h264: given twice: it is also the settings file"),
        ])
    func usedTwice(arguments: [String], reason: String) throws {
        let command = try RecordCommand.parse(arguments)
        let error = #expect(throws: RecordingError.self) { try command.preflight(at: WallTime(seconds: 0)) }
        #expect(try #require(error?.description).contains(reason))
        #expect(error.map(ExitStatus.init) == .cannotCreate)
    }

    @Test(
        "accepts different places",
        arguments: [
            ["a.h264", "a.h265"], ["/dev/null", "/dev/null", "--codec=h264"], ["-", "--report=a"],
            ["nowhere/a.h264", "a.h264"], ["nowhere/a.h264", "/nowhere/a.h264"],
            ["--device=test", "--report=test", "a.h264"],
            ["%Y.h264", "%m.h264"], ["--listen=unix:a", "--control-socket=b", "c.h264"],
        ])
    func different(arguments: [String]) throws {
        let command = try RecordCommand.parse(arguments)
        #expect(throws: Never.self) { try command.preflight(at: WallTime(seconds: 0)) }
    }

    @Test("recognises one existing file under two names")
    func links() throws {
        let folder = "/tmp/camrec-places-\(getpid())"
        try #require(mkdir(folder, 0o700) == 0)
        defer {
            for name in ["a.h264", "b.h264", "link/", "link"] { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
        close(open("\(folder)/a.h264", O_CREAT | O_WRONLY, 0o600))
        symlink("a.h264", "\(folder)/b.h264")
        symlink(".", "\(folder)/link")
        #expect(FilePlace("\(folder)/a.h264") == FilePlace("\(folder)/b.h264"))
        #expect(FilePlace("\(folder)/new.h264") == FilePlace("\(folder)/link/new.h264"))
        #expect(FilePlace("\(folder)/new.h264") != FilePlace("\(folder)/other.h264"))
        let error = try #require(try failure("\(folder)/a.h264", "\(folder)/b.h264"))
        #expect(error.description.contains("given twice"))
    }

    @Test("a socket's path has a maximum length")
    func longPath() throws {
        let path = String(repeating: "x", count: 108)
        for option in ["--listen=unix:\(path)", "--control-socket=\(path)"] {
            let error = try #require(try failure(option, "a.h264"))
            #expect(error.description.contains("at most 107 bytes; use a shorter one"))
            #expect(ExitStatus(error) == .cannotCreate)
        }
        #expect(try failure("--listen=unix:\(path.dropLast())", "a.h264") == nil)
    }

    @Test("answers an unknown device's name with the nearest")
    func devices() throws {
        let error = try #require(try failure("--device=tset", "a.h264"))
        #expect(error.description == "tset: no such device; use --device test")
        #expect(ExitStatus(error) == .noInput)
        #expect(
            try failure("--device=null", "a.h264")?.description
                == "null: no such device; use --device /dev/null")
        #expect(
            try failure("--device=camera", "a.h264")?.description.contains("'camrec devices' lists") == true)
        #expect(try failure("--device=/dev/video250", "a.h264") == nil)
        #expect(try failure("a.h264") == nil)
    }
}
