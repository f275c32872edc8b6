import Glibc
import TestSupport
import Testing
import CamPlatform
@testable import CamStorage

/// The names of a recording's files.
@Suite struct FileNamePatternTests {
    private let folder = TemporaryFolder()
    /// Friday, 13 February 2009, 23:31:30 UTC.
    private let time = WallTime(seconds: 1_234_567_890)

    private func next(_ pattern: String, times: Int = 1) -> [String] {
        var names = FileNamePattern(folder.path(pattern), expandsTime: true, isUTC: true)
        return (0..<times).map { _ in
            let name = names.next(at: time)
            return String(name.dropFirst(folder.path("").count + 1))
        }
    }

    @Test(
        "strftime expands %",
        arguments: [
            ("rec-%Y%m%d-%H%M%S.h264", "rec-20090213-233130.h264"),
            ("%Y/%m/%d.mkv", "2009/02/13.mkv"),
            ("%H%M%z.ts", "2331+0000.ts"),
            ("100%%.h264", "100%.h264"),
            ("plain.h264", "plain.h264"),
        ])
    func patterns(pattern: String, name: String) {
        #expect(next(pattern) == [name])
    }

    @Test(
        "reports a conversion that cannot be part of a name, with its result",
        arguments: [
            ("%D.h264", "%D", "02/13/09"), ("%F/%H-%x.h264", "%x", "02/13/09"),
            ("%_10D.ts", "%_10D", "  02/13/09"),
            ("%Ex", "%Ex", "02/13/09"), ("%%%n%D", "%n", "\n"), ("a%t", "%t", "\t"),
        ])
    func misplaced(pattern: String, conversion: String, text: String) throws {
        let names = FileNamePattern(pattern, expandsTime: true, isUTC: true)
        let found = try #require(names.misplacedConversion(at: time))
        #expect(found.conversion == conversion && found.text == text)
        #expect(FileNamePattern(pattern, expandsTime: false).misplacedConversion(at: time) == nil)
    }

    @Test(
        "accepts every other conversion",
        arguments: ["%F/%T", "%c", "100%", "%%D", "%Q%", "a/%s.h264", "%-d%EY"])
    func wellPlaced(pattern: String) {
        let names = FileNamePattern(pattern, expandsTime: true, isUTC: true)
        #expect(names.misplacedConversion(at: time) == nil)
    }

    @Test(
        "finds a conversion that means nothing",
        arguments: [
            ("100%", "%"), ("%Q.h264", "%Q"), ("%Y%%%é", "%é"), ("50%.h264", "%."), ("%-5", "%-5"),
            ("%F-%T%%", nil),
            ("%Ey%-d%f%3f.ts", nil), ("plain", nil),
        ] as [(String, String?)])
    func unknown(pattern: String, conversion: String?) {
        #expect(FileNamePattern(pattern, expandsTime: true).unknownConversion == conversion)
        #expect(FileNamePattern(pattern, expandsTime: false).unknownConversion == nil)
    }

    @Test("%f is the milliseconds")
    func milliseconds() {
        let time = WallTime(nanoseconds: 1_234_567_890_045_999_999)
        for (pattern, name) in ["%S.%f.ts": "30.045.ts", "%%f%f": "%f045", "f%Sf": "f30f"] {
            let names = FileNamePattern(pattern, expandsTime: true, isUTC: true)
            #expect(names.name(at: time) == name)
            #expect(names.covers(name))
        }
    }

    @Test("% means nothing unless requested")
    func literal() {
        var names = FileNamePattern("a%Y.h264", expandsTime: false)
        #expect(names.next(at: time) == "a%Y.h264")
    }

    @Test("an existing name gets a counter before its extension, which only rises")
    func counter() {
        #expect(next("out.h264", times: 3) == ["out.h264", "out-1.h264", "out-2.h264"])
        folder.write("out-7.h264", [])
        #expect(next("out.h264", times: 2) == ["out-8.h264", "out-9.h264"])
        folder.write("bare", [])
        #expect(next("bare") == ["bare-1"])
        folder.write("%H", [])
        folder.write("23", [])
        #expect(next("%H") == ["23-1"])
    }

    @Test("does not take other files' names for counters")
    func notACounter() {
        for name in ["out-x.h264", "out-.h264", "out1.h264", "out-1.mkv", "outer-5.h264", "out--3.h264"] {
            folder.write(name, [])
        }
        #expect(next("out.h264") == ["out.h264"])
    }

    @Test("a hidden file's name is not an extension")
    func hidden() {
        folder.write(".out", [])
        #expect(next(".out") == [".out-1"])
    }

    @Test(
        "the pattern's folder is the part before the first folder that depends on the time",
        arguments: [
            ("rec-%Y.h264", "."), ("/video/%Y/%m.h264", "/video"), ("a/b.h264", "a"), ("/%Y.h264", "/"),
            ("./%Y.h264", "."), ("a/%Y/b/c.h264", "a"),
        ])
    func folder(pattern: String, folder: String) {
        #expect(FileNamePattern(pattern, expandsTime: true).folder == folder)
    }

    @Test(
        "cannot recognise names with slashes from the time, or that lead back up",
        arguments: [
            ("%D.h264", false), ("%x.h264", false), ("%Y/../%m.h264", false), ("../%Y/%m.h264", true),
            ("a.h264", true), ("%Y/%F-%H%M%S%z.h264", true), ("100%%.h264", true),
        ])
    func knownAgain(pattern: String, areKnown: Bool) {
        #expect(FileNamePattern(pattern, expandsTime: true).areKnownAgain(at: time) == areKnown)
    }

    @Test("a pattern recognises its own names")
    func covers() {
        let names = FileNamePattern("a[1]/%Y/rec-%H*.h264", expandsTime: true)
        #expect(names.covers("a[1]/2026/rec-12*.h264"))
        #expect(names.covers("a[1]/2026/rec-12*-3.h264"))
        #expect(!names.covers("a1/2026/rec-12*.h264"))
        #expect(!names.covers("a[1]/2026/sub/rec-12*.h264"))
        #expect(!names.covers("a[1]/2026/other-12*.h264"))
        #expect(!names.covers("a[1]/2026/rec-12*.mkv"))
        let plain = FileNamePattern("out.h264", expandsTime: true)
        #expect(plain.covers("out.h264"))
        #expect(plain.covers("out-12.h264"))
        #expect(!plain.covers("out-x.h264"))
        #expect(!plain.covers("outer.h264"))
    }
}
