import Bitstream
import CamPlatform
import Glibc
import TestSupport
import Testing
@testable import CamStorage
@testable import Containers

/// A recording in one file stays in that file until the picture format changes.
@Suite struct FileRolloverTests {
    let bench = SegmentBench()
    let wide = StreamDescription(codec: .h264, width: 640, height: 240, frameRate: nil)

    @Test("one picture format is one file, and no segments are reported")
    func oneFile() throws {
        let sink = try bench.rollover("out.h264")
        let units = pictures(0..<30, idrEvery: 10)
        for unit in units { try sink.write(unit) }
        #expect(sink.identity == FileIdentity(path: bench.folder.path("out.h264")))
        try sink.endFile()
        try sink.finish()
        #expect(bench.folder.names() == ["out.h264"])
        #expect(bench.bytes("out.h264") == allBytes(units))
        #expect(sink.segments == nil)
        #expect(bench.events.isEmpty)
    }

    @Test("another picture format begins another file, and both are reported")
    func formatChange() throws {
        let sink = try bench.rollover("out.h264")
        let units = pictures(0..<30, idrEvery: 10)
        for unit in units[..<10] { try sink.write(unit) }
        try sink.beginStream(wide)
        #expect(sink.identity == nil)
        for unit in units[10...] { try sink.write(unit) }
        try sink.finish()
        #expect(bench.folder.names() == ["out-1.h264", "out.h264"])
        #expect(bench.bytes("out.h264") == allBytes(units[..<10]))
        #expect(bench.bytes("out-1.h264") == allBytes(units[10...]))
        #expect(bench.openedStreams.map(\.width) == [320, 640])
        #expect(bench.events == [.began(path: bench.folder.path("out-1.h264"))])
        var summary = SegmentSummary()
        (summary.count, summary.first, summary.last) =
            (2, bench.folder.path("out.h264"), bench.folder.path("out-1.h264"))
        #expect(sink.segments == summary)
    }

    @Test("the next file begins with an IDR, in a folder that exists, under a name that is free")
    func nextFile() throws {
        mkdir(bench.folder.path("sub"), 0o755)
        let sink = try bench.rollover("sub/out.h264")
        bench.folder.write("sub/out-4.h264", [1])
        try sink.write(accessUnit())
        for _ in 0..<2 { try sink.beginStream(wide) }
        let error = #expect(throws: OutputError.self) { try sink.write(accessUnit(isIDR: false)) }
        #expect(error?.kind == .noKeyframe)
        #expect(bench.folder.names(in: "sub") == ["out-4.h264", "out.h264"])
        for name in ["out.h264", "out-4.h264"] { unlink(bench.folder.path("sub/\(name)")) }
        rmdir(bench.folder.path("sub"))
        try sink.write(accessUnit())
        #expect(bench.folder.names(in: "sub") == ["out.h264"])
        try sink.beginStream(wide)
        try sink.write(accessUnit())
        try sink.finish()
        #expect(bench.folder.names(in: "sub") == ["out-1.h264", "out.h264"])
    }

    @Test("the recording ends where writing fails, or where the next file cannot be created")
    func failures() throws {
        let sink = try bench.rollover("out.h264")
        #expect(!sink.recovers)
        bench.failure = .diskFull
        #expect(throws: OutputError(.diskFull, output: bench.folder.path("out.h264"))) {
            try sink.write(accessUnit())
        }
        try sink.beginStream(wide)
        bench.creationFailure = .notCreated(errno: EACCES)
        #expect(throws: OutputError(.notContinued(errno: EACCES), output: bench.folder.path("out.h264"))) {
            try sink.write(accessUnit())
        }
        #expect(sink.segments == nil)
        #expect(bench.events.isEmpty)
    }

    @Test("a file that a full disk left empty is removed, and neither counted nor named nor reported")
    func emptyFile() throws {
        for files in 1...3 {
            let bench = SegmentBench()
            let sink = try bench.rollover("out.h264")
            let names = ["out.h264", "out-1.h264", "out-2.h264"][..<files].map(bench.folder.path)
            let units = pictures(0..<40, idrEvery: 10)
            for file in 0..<files {
                for unit in units[file * 10..<file * 10 + 10] { try sink.write(unit) }
                try sink.beginStream(wide)
            }
            bench.failure = .diskFull
            #expect(throws: OutputError.self) { try sink.write(units[30]) }
            #expect(bench.folder.names().count == files)
            #expect(sink.segments?.count == (files > 1 ? files : nil))
            #expect(sink.segments?.last == (files > 1 ? names.last : nil))
            #expect(bench.events == names.dropFirst().map { SegmentEvent.began(path: $0) })
        }
    }

    @Test("what a file loses after it was written is lost, while it is written and when it ends")
    func retracted() throws {
        let sink = try bench.rollover("out.h264")
        func lose(_ count: Int) { for _ in 0..<count { bench.retracted.add(accessUnit()) } }
        #expect(sink.takeRetracted().count == 0)
        lose(3)
        #expect(sink.takeRetracted().count == 3)
        lose(2)
        try sink.beginStream(wide)
        #expect(bench.retracted.count == 0)
        #expect(sink.takeRetracted().count == 2)
        #expect(sink.takeRetracted().count == 0)
    }

    @Test("begins no file below the mount point if the disk is no longer mounted")
    func volumeGone() throws {
        mkdir(bench.folder.path("disk"), 0o755)
        guard mount("camrec-test", bench.folder.path("disk"), "tmpfs", 0, nil) == 0 else {
            try Test.cancel("mounting a file system needs root")
        }
        let sink = try bench.rollover("disk/out.h264")
        try sink.write(accessUnit())
        umount2(bench.folder.path("disk"), Int32(MNT_DETACH))
        try? sink.beginStream(wide)
        let error = #expect(throws: OutputError.self) { try sink.write(accessUnit()) }
        #expect(error?.kind == .volumeGone)
        #expect(bench.folder.names(in: "disk") == [])
    }
}
