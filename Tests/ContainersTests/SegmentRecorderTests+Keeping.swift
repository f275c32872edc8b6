import CamPlatform
import Testing
@testable import CamStorage
@testable import Containers

/// A recording whose segments are kept.
extension SegmentRecorderTests {
    @Test("once kept segments fill a limit, it is as on a full disk until one is released")
    func fullOfKept() throws {
        let bench = SegmentBench()
        var retention = SegmentRetention()
        retention.count = 2
        let sink = try bench.recorder("a.h264", .frames(10), retention: retention)
        let units = pictures(0..<100, idrEvery: 10)
        #expect(bench.lost(of: units[..<20], by: sink) == [])
        func mark(_ name: String, isKept: Bool) throws {
            _ = try sink.carryOut(.mark(SegmentRange(first: bench.folder.path(name)), isKept: isKept))
        }
        for name in ["a.h264", "a-1.h264"] { try mark(name, isKept: true) }
        #expect(bench.lost(of: units[20..<30], by: sink) == Array(20..<30))
        #expect(sink.currentOutage?.error.condition == "disk full")
        sink.lookForOutage(room: 0)
        #expect(sink.currentOutage?.error.kind == .fullOfKept)
        try mark("a.h264", isKept: false)
        bench.monotonic = 20
        #expect(bench.lost(of: units[30..<40], by: sink) == [])
        try sink.finish()
        #expect(bench.folder.names() == ["a-1.h264", "a-2.h264"])
        #expect(bench.events.count { if case .interrupted = $0 { true } else { false } } == 1)
        #expect(bench.events.contains(.resumed(path: bench.folder.path("a-2.h264"), lost: 10)))
    }

    @Test("while nothing is written, says that kept segments fill a limit")
    func lookFullOfKept() throws {
        let bench = SegmentBench()
        var retention = SegmentRetention()
        retention.count = 1
        let sink = try bench.recorder("a.h264", nil, retention: retention)
        for unit in pictures(0..<10, idrEvery: 10) { try sink.write(unit) }
        sink.endFile()
        let range = SegmentRange(first: bench.folder.path("a.h264"))
        _ = try sink.carryOut(.mark(range, isKept: true))
        sink.lookForOutage(room: 0)
        #expect(sink.currentOutage?.error.kind == .fullOfKept)
        _ = try sink.carryOut(.mark(range, isKept: false))
        sink.lookForOutage(room: 0)
        #expect(sink.currentOutage == nil)
    }
}
