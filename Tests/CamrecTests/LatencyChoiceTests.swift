import Encoder
import Testing

@testable import camrec

/// Whether anybody waits for a frame, and what an encoder may therefore do.
@Suite struct LatencyChoiceTests {
    private func configuration(_ words: [String]) throws -> CompressionProperties {
        try #require(try RecordCommand.parse(words).configurations.first)
    }

    @Test(
        "for files, the encoder may use all processors, and choose the B frames where all have times",
        arguments: [
            (["a.mkv"], nil), (["--segment=10m", "a.mkv", "b.mp4"], nil), (["--latency=auto", "a.ts"], nil),
            (["--latency=throughput", "a.mkv"], nil), (["--timestamps=t.txt", "a.mkv"], nil),
            (["--codec=h264", "a.mkv"], nil), (["a.h264"], 0), (["a.mkv", "b.h264"], 0),
            (["--timestamps=t.txt", "a.h264"], 0), (["--latency=throughput", "a.h264"], 0),
        ] as [([String], Int?)])
    func files(words: [String], bFrames: Int?) throws {
        let configuration = try configuration(words)
        #expect(configuration.latency == .throughput)
        #expect(configuration.bFrames == bFrames)
    }

    @Test("one codec's raw stream does not keep the other's pictures in order")
    func codecs() throws {
        let both = try RecordCommand.parse(["a.h264", "--codec=h264", "c.mkv"]).configurations
        #expect(both.map(\.bFrames) == [0])
        let apart = try RecordCommand.parse(["a.mkv", "b.h265"]).configurations
        #expect(apart.map(\.codec) == [.h264, .hevc])
        #expect(apart.map(\.bFrames) == [nil, 0])
    }

    @Test(
        "if anybody may be waiting for a frame, each comes out at once, without B frames",
        arguments: [
            ["--listen=9982"], ["--listen=9982", "a.h264"], ["-"], ["a.h264", "tcp://127.0.0.1:9"],
            ["rtsp://host/cam", "a.mkv"], ["srt://host:1"], ["udp://host:1", "a.ts"],
            ["--timestamps=-", "a.h264"], ["--every=10s", "a.mkv"], ["--codec=h264", "/dev/null"],
            ["--ring=5s", "--control-socket=s", "a.mkv"],
        ])
    func awaited(words: [String]) throws {
        let configuration = try configuration(words)
        #expect(configuration.latency == .realtime)
        #expect(configuration.bFrames == 0)
    }

    @Test("what is asked for counts, wherever the stream goes")
    func asked() throws {
        #expect(try configuration(["--latency=realtime", "a.h264"]).latency == .realtime)
        #expect(try configuration(["--latency=throughput", "--listen=9982"]).latency == .throughput)
        // A server that takes the stream to browsers wants no B frames.
        #expect(try configuration(["--latency=throughput", "rtsp://host/cam"]).bFrames == 0)
        #expect(try configuration(["--latency=quality", "a.h264"]).latency == .quality)
        #expect(try configuration(["--bframes=0", "a.h264"]).bFrames == 0)
        #expect(try configuration(["--bframes=2", "-"]).bFrames == 2)
    }
}
