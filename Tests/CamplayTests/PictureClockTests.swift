import Bitstream
import Glibc
import CamPictures
import Testing
import CamPlatform

@testable import camplay

/// When a file's pictures are due.
@Suite struct PictureClockTests {
    private func clock(_ options: String...) throws -> PictureClock {
        try PictureClock(ShowingOptions.parse(options))
    }

    /// In milliseconds.
    private func dues(_ clock: PictureClock, _ count: Int, rate: FrameRate? = nil) throws -> [Int64] {
        try (0..<count).map { _ in try clock.next(rate: rate).inMilliseconds }
    }

    @Test("a stream without a rate plays at 25 pictures a second")
    func silentStream() throws {
        let clock = try clock()
        #expect(try dues(clock, 3) == [0, 40, 80])
        #expect(clock.end == .milliseconds(120))
    }

    @Test("a stream's own rate counts, even if it changes")
    func streamRate() throws {
        let clock = try clock()
        #expect(try dues(clock, 2, rate: FrameRate(announced: 50, in: 1)) == [0, 20])
        #expect(try dues(clock, 2, rate: FrameRate(announced: 10, in: 1)) == [120, 220])
    }

    @Test("--speed divides the time")
    func speed() throws {
        let clock = try clock("--speed", "0.5")
        #expect(try dues(clock, 3, rate: FrameRate(announced: 50, in: 1)) == [0, 40, 80])
        #expect(clock.end == .milliseconds(120))
    }

    @Test("--speed is a decimal number", arguments: ["0x1", "1e0", "nan", "1x", ""])
    func noSpeed(text: String) { #expect(throws: (any Error).self) { try clock("--speed", text) } }

    @Test("a container's own times count, gaps included, unless a rate is requested")
    func ownTimes() throws {
        let times: [Duration] = [0, 33, 5000, 5001].map { .milliseconds($0) }
        let clock = try clock("--speed", "2")
        #expect(try times.map { try clock.next(rate: nil, time: $0) } == times.map { $0 / 2 })
        let fixed = try self.clock("--fps", "10")
        #expect(
            try times.map { try fixed.next(rate: fixed.frameRate, time: $0).inMilliseconds } == [
                0, 100, 200, 300,
            ])
    }

    @Test("if a container's times start over, pictures continue from the last one")
    func joinedRecordings() throws {
        let clock = try clock()
        let dues = try [0, 40, 80, 0, 40, 30, 120].map {
            try clock.next(rate: nil, time: .milliseconds($0)).inMilliseconds
        }
        // Less than a tenth of a second is clock jitter.
        #expect(dues == [0, 40, 80, 80, 80, 80, 120])
        let times = [0, 1000, 2000, 0, 1000, 5000]
        let other = try self.clock()
        #expect(
            try times.map { try other.next(rate: nil, time: .milliseconds($0)).inMilliseconds } == [
                0, 1000, 2000, 2040, 3040, 7040,
            ])
    }

    @Test("after seeking back in a container its own times count, as sound needs it")
    func seekingInContainer() throws {
        let clock = try clock()
        _ = try clock.next(rate: nil, time: .zero)
        #expect(try clock.next(rate: nil, time: .seconds(20)) == .seconds(20))
        try clock.go(to: PictureClock.Place())
        #expect(try clock.next(rate: nil, time: .seconds(10)) == .seconds(10))
    }

    @Test("seeking back to a place gives its times again")
    func places() throws {
        let clock = try clock()
        _ = try dues(clock, 3)
        let place = clock.place
        #expect(try dues(clock, 2) == [120, 160])
        try clock.go(to: place)
        #expect(try dues(clock, 2) == [120, 160])
        try clock.go(to: PictureClock.Place())
        #expect(try dues(clock, 1) == [0])
    }

    @Test("passes --fps on as the rate of all pictures")
    func frameRate() throws {
        #expect(try clock("--fps", "30000/1001").frameRate == FrameRate(announced: 30000, in: 1001))
        #expect(try clock("--fps", "12.5").frameRate == FrameRate(announced: 25, in: 2))
    }

    @Test("a timestamp file gives each picture's time from the first, and must have them all")
    func timestamps() throws {
        let path = "/tmp/camplay-test-\(getpid()).txt"
        defer { unlink(path) }
        let text = "# timestamp format v2\n1000\n1040\n1300\n"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        _ = write(descriptor, text, text.utf8.count)
        close(descriptor)
        let clock = try clock("--timestamps", path, "--speed", "2")
        #expect(try dues(clock, 3) == [0, 20, 150])
        #expect(throws: PlayError.self) { try clock.next(rate: nil) }
    }
}
