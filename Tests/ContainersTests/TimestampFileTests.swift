import Bitstream
import CamPictures
import CamSound
import TestSupport
import Testing
import CamPlatform
@testable import Containers

/// mkvmerge's "timestamp format v2", read and written.
@Suite struct TimestampFileTests {
    private let folder = TemporaryFolder()

    private func read(_ text: String) throws -> [Int64] {
        folder.write("times.txt", Array(text.utf8))
        let file = try TimestampFile(path: folder.path("times.txt"))
        var times: [Int64] = []
        while let time = try file.next() { times.append(time.inNanoseconds) }
        return times
    }

    private func problem(_ text: String) -> String? {
        do {
            _ = try read(text)
            return nil
        } catch {
            return "\(error)"
        }
    }

    // MARK: Reading

    @Test("milliseconds become nanoseconds")
    func reads() throws {
        let times = try read("# timestamp format v2\n0\n33.333333\n66.6666667\n100.5\n1000000.000001\n")
        #expect(times == [0, 33_333_333, 66_666_666, 100_500_000, 1_000_000_000_001])
    }

    @Test(
        "accepts the older header, blank lines, comments, spaces and DOS line ends",
        arguments: [
            "# timecode format v2\n0\n40\n", "# timestamp format v2\r\n0\r\n40\r\n",
            "# timestamp format v2\n\n# cut here\n 0\t\n\n40", "# timestamp format v2\n0.\n40.\n",
        ])
    func tolerates(text: String) throws {
        #expect(try read(text) == [0, 40_000_000])
    }

    @Test("refuses invalid times")
    func empty() throws { #expect(try read("# timestamp format v2\n") == []) }

    @Test(
        "names the line of an invalid timestamp file",
        arguments: [
            ("", "line 1: not a timestamp file"), ("0\n40\n", "line 1: not a timestamp file"),
            ("# timestamp format v1\n", "line 1: not a timestamp file"),
            ("# timestamp format v2\n0\nabc\n", "line 3: 'abc' is not a time"),
            ("# timestamp format v2\n-1\n", "line 2: '-1' is not a time"),
            ("# timestamp format v2\n1e3\n", "line 2: '1e3' is not a time"),
            ("# timestamp format v2\n1.2.3\n", "line 2: '1.2.3' is not a time"),
            ("# timestamp format v2\n99999999999999999999\n", "line 2: '99999999999999999999' is not a time"),
            ("# timestamp format v2\n40\n\n39.9\n", "line 4: the time is before the last one"),
        ])
    func malformed(text: String, problem: String) throws {
        #expect(try #require(self.problem(text)).contains(problem))
    }

    @Test("endless lines take bounded memory")
    func longLine() throws {
        let text = "# timestamp format v2\n" + String(repeating: "0", count: 1 << 20)
        #expect(try #require(problem(text)).contains("line 2: the line is too long"))
    }

    @Test("joins lines across the end of a read")
    func chunks() throws {
        let lines = (0..<40_000).map { "\($0)" }
        let times = try read("# timestamp format v2\n" + lines.joined(separator: "\n") + "\n")
        #expect(times == (0..<40_000).map { Int64($0) * 1_000_000 })
    }

    @Test("reads or rejects any input")
    func anyBytes() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<500 {
            var bytes = Array("# timestamp format v2\n0\n40.5\n81\n".utf8)
            for _ in 0..<3 {
                bytes[Int.random(in: 22..<bytes.count, using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            folder.write("times.txt", bytes)
            do throws(InputError) {
                let file = try TimestampFile(path: folder.path("times.txt"))
                while try file.next() != nil {}
            } catch {
                #expect(!error.description.contains("\n"))
            }
        }
    }

    // MARK: Writing

    private func write(_ timestamps: [Int64], order: [Int]? = nil, reordering: Int = 0) throws -> String {
        let stream = StreamDescription(
            codec: .h264, width: 64, height: 48, frameRate: FrameRate(announced: 25, in: 1),
            reordering: reordering)
        let sink = try sink(stream)
        for number in order ?? Array(timestamps.indices) {
            var builder = AccessUnitPool(codec: .h264, limit: 1).makeBuilder()
            let slice: [UInt8] = [0x65]
            builder.append(slice.span.bytes)
            try sink.write(
                builder.finish(
                    isIDR: true, frameNumber: number, sequence: 0,
                    timestamp: Instant(nanoseconds: timestamps[number])))
        }
        try sink.finish()
        return String(decoding: folder.content("out.txt") ?? [], as: UTF8.self)
    }

    @Test("writes one line per picture, to the nanosecond, from 0 on")
    func writes() throws {
        #expect(
            try write([5_000_000_007, 5_033_333_340, 6_000_000_008])
                == "# timestamp format v2\n0.000000\n33.333333\n1000.000001\n")
    }

    @Test("lines are in presentation order")
    func presentationOrder() throws {
        let lines = try write(
            [0, 40, 80, 120, 160].map { $0 * 1_000_000 }, order: [0, 4, 2, 1, 3], reordering: 2)
        #expect(lines == "# timestamp format v2\n0.000000\n40.000000\n80.000000\n120.000000\n160.000000\n")
    }

    @Test("reads what was written, increasing whatever the clock does")
    func roundTrip() throws {
        let timestamps: [Int64] = [100, 100, 50, 40_000_000, 39_000_000, 80_123_456]
        let times = try read(write(timestamps))
        #expect(times.count == timestamps.count)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        #expect(times.last == 80_123_356)
    }

    @Test("sound has lines that are comments to others, and none before the first picture")
    func sound() throws {
        var stream = StreamDescription(
            codec: .h264, width: 64, height: 48, frameRate: FrameRate(announced: 25, in: 1))
        #expect(try sink(stream).takesSound == false)
        stream.sound = SoundDescription(
            codec: .opus, format: SoundFormat(rate: 48_000, channels: 1), configuration: [],
            packetFrames: 960)
        let sink = try sink(stream)
        #expect(sink.takesSound)
        func write(soundAt nanoseconds: Int64) throws {
            try sink.write(
                #require(
                    SoundPacket(timestamp: Instant(nanoseconds: nanoseconds), duration: .milliseconds(20))))
        }
        try write(soundAt: 999_000_000)
        try sink.write(accessUnit(timestamp: Instant(nanoseconds: 1_000_000_000)))
        try write(soundAt: 999_500_000)
        try write(soundAt: 1_019_500_000)
        try sink.write(
            accessUnit(isIDR: false, frameNumber: 1, timestamp: Instant(nanoseconds: 1_040_000_000)))
        try sink.finish()
        let text = String(decoding: folder.content("out.txt") ?? [], as: UTF8.self)
        #expect(text == "# timestamp format v2\n0.000000\n# sound 19.500000\n40.000000\n")
        #expect(try read(text) == [0, 40_000_000])
    }

    private func sink(_ stream: StreamDescription) throws -> TimestampFileSink {
        try TimestampFileSink(
            path: folder.path("out.txt"), overwrite: true, stream: stream,
            cancellation: #require(CancellationFlag()))
    }

    @Test("leaves nothing if nothing was recorded")
    func nothing() throws {
        #expect(try write([]) == "")
        #expect(folder.content("out.txt") == nil)
    }
}
