import Pictures
import Testing
import Threading

@testable import Capture
@testable import Recorder

/// A source that fails, and what is done about it, on the test's own thread and clock.
@Suite struct SupervisedSourceTests {
    private static let second: Int64 = 1_000_000_000

    /// A source with everything around it.
    final class Bench {
        let clock = ScriptedRestartClock()
        let frames = BoundedQueue<PixelBuffer>(capacity: 10)
        let counters = Counters<CaptureCounter>()
        /// What opening it again comes to, each once.
        var openings: [Result<ScriptedStream, CaptureError>] = []
        private(set) var openTimes: [Int64] = []
        private(set) var events: [SourceEvent] = []

        /// Takes pictures until it ends; their numbers and runs.
        func run(
            _ stream: ScriptedStream, timeout: Int64? = nil, duration: Int64? = nil, canReopen: Bool = true
        ) -> (sequences: [UInt32], runs: [Int], error: CaptureError?) {
            var source = SupervisedSource(
                RecordingSource(
                    stream, reopen: canReopen ? { (format) throws(CaptureError) in try self.open() } : nil,
                    timeout: timeout, report: { self.events.append($0) }),
                frames: frames, counters: counters, stop: clock, duration: duration)
            defer { source.end() }
            var (sequences, runs) = ([UInt32](), [Int]())
            do throws(CaptureError) {
                try source.start()
                while true {
                    switch try source.nextBuffer() {
                    case .buffer(let buffer):
                        sequences.append(buffer.sequence)
                        runs.append(buffer.run)
                    case .end: return (sequences, runs, nil)
                    case .interrupted: return (sequences, runs, nil)
                    }
                }
            } catch {
                return (sequences, runs, error)
            }
        }

        private func open() throws(CaptureError) -> any CaptureStream {
            openTimes.append(clock.time)
            guard !openings.isEmpty else { throw CaptureError(.notFound, device: "scripted") }
            return try openings.removeFirst().get()
        }
    }

    private let bench = Bench()

    private func gone(_ kind: CaptureError.Kind = .notFound) -> Result<ScriptedStream, CaptureError> {
        .failure(CaptureError(kind, device: "scripted"))
    }

    @Test("a camera that returns continues in a new run, and the streams' losses add up")
    func comesBack() throws {
        let first = try ScriptedStream([.pictures(3), .loss(2, 1), .fail(.lost)])
        let second = try ScriptedStream([.loss(1, 2), .pictures(2)])
        bench.openings = [gone(), gone(.permissionDenied(group: nil)), .success(second)]
        let (sequences, runs, error) = bench.run(first)
        #expect(error == nil)
        #expect(sequences == [0, 1, 2, 3, 4])
        #expect(runs == [0, 0, 0, 1, 1])
        #expect(first.isReleased)
        #expect(bench.clock.attachedCount == 2)
        #expect(bench.counters[.sourceRestarts] == 1)
        #expect(bench.counters[.droppedByDriver] == 3)
        #expect(bench.counters[.corrupt] == 3)
    }

    @Test("pauses grow to two seconds, and do not follow from a source that failed long ago")
    func backOff() {
        var backOff = SourceBackOff()
        var (now, pauses) = (Int64(0), [Int64]())
        for _ in 0..<8 {
            let next = backOff.next(at: now)
            pauses.append((next - now) / 100_000_000)
            now = next
        }
        #expect(pauses == [1, 2, 4, 8, 16, 20, 20, 20])
        now += 30 * Self.second
        let next = backOff.next(at: now)
        #expect(next - now == 100_000_000)
    }

    @Test("restarts a frozen camera first, then reopens it")
    func frozen() throws {
        let first = try ScriptedStream([
            .picture, .failOnce(.silent(seconds: 2)), .picture, .failOnce(.silent(seconds: 2)),
            .failOnce(.silent(seconds: 5)), .pictures(9),
        ])
        let second = try ScriptedStream([.picture])
        bench.openings = [.success(second)]
        let (_, runs, error) = bench.run(first)
        #expect(error == nil)
        #expect(runs == [0, 1, 3])
        #expect(first.startCount == 3)
        #expect(bench.counters[.sourceRestarts] == 3)
    }

    @Test("EIO restarts the stream; if that fails too, the camera is reopened")
    func restartFails() throws {
        let first = try ScriptedStream([.picture, .fail(.systemCallFailed("VIDIOC_DQBUF", errno: 5))])
        let second = try ScriptedStream([.picture])
        bench.openings = [.success(second)]
        #expect(bench.run(first).error == nil)
        #expect(first.startCount == 2)
        #expect(second.startCount == 1)
    }

    @Test("one that stays away ends the recording when its time is over, with the original reason")
    func timeout() throws {
        let start = bench.clock.time
        let (sequences, _, error) = bench.run(
            try ScriptedStream([.picture, .fail(.lost)]), timeout: 30 * Self.second)
        #expect(sequences == [0])
        #expect(error == CaptureError(.lost, device: "scripted"))
        #expect(bench.clock.time == start + 30 * Self.second)
        #expect(bench.openTimes.count > 10)
        #expect(bench.counters[.sourceRestarts] == 0)
    }

    @Test("one that is back but unusable says why")
    func unusable() throws {
        bench.openings = Array(repeating: gone(.busy(holder: "cheese")), count: 100)
        let error = bench.run(try ScriptedStream([.picture, .fail(.lost)]), timeout: Self.second).error
        #expect(error == CaptureError(.busy(holder: "cheese"), device: "scripted"))
    }

    @Test("an unrecoverable failure ends it at once", arguments: [true, false])
    func noPatience(canReopen: Bool) throws {
        let start = bench.clock.time
        let error = bench.run(
            try ScriptedStream([.picture, .fail(.lost)]), timeout: canReopen ? 0 : nil, canReopen: canReopen
        ).error
        #expect(error == CaptureError(.lost, device: "scripted"))
        #expect(bench.clock.time == start)
        #expect(bench.openTimes.isEmpty)
        #expect(bench.events.isEmpty)
    }

    @Test("a source that does not start the first time fails")
    func firstStart() throws {
        let stream = try ScriptedStream([.picture])
        stream.startFailure = .noBandwidth
        #expect(bench.run(stream).error?.kind == .noBandwidth)
        #expect(bench.openTimes.isEmpty)
    }

    @Test("a stop, or the recording's duration, ends the wait without an error")
    func ended() throws {
        bench.clock.isStopRequested = true
        #expect(bench.run(try ScriptedStream([.picture, .fail(.lost)])).error == nil)
        let other = Bench()
        let stream = try ScriptedStream([.picture, .fail(.lost)])
        // Its first picture is of time 0.
        let (_, _, error) = other.run(stream, duration: other.clock.time + 5 * Self.second)
        #expect(error == nil)
        #expect(other.clock.waits.last == 1005 * Self.second)
    }

    @Test(
        "buffers never returned do not keep a camera away; queued ones are dropped and counted")
    func heldBuffers() throws {
        let first = try ScriptedStream([.picture, .fail(.lost)])
        first.keepsBuffers = true
        let pictures = try Pictures()
        for number in 0..<4 { _ = bench.frames.push(pictures.picture(number)) }
        bench.openings = [.success(try ScriptedStream([.picture]))]
        #expect(bench.run(first).error == nil)
        #expect(bench.counters[.droppedByUs] == 4)
        #expect(first.isReleased)
    }

    @Test("reports an outage when the first retry fails, and when pictures return")
    func tells() throws {
        let lost = CaptureError(.lost, device: "scripted")
        let second = try ScriptedStream([
            .loss(100, 0), .pictures(2), .failOnce(.silent(seconds: 2)), .picture,
        ])
        bench.openings = [gone(), gone(), .success(second)]
        _ = bench.run(try ScriptedStream([.pictures(3), .fail(.lost)]), timeout: 30 * Self.second)
        // The first stream's last picture is of 0.2 s, the second's first of 10 s.
        #expect(
            bench.events == [
                .waiting(lost, timeout: 30 * Self.second),
                .resumed(lost, device: "scripted", nanoseconds: 98 * Self.second / 10, untold: 0),
            ], "the second outage follows too soon to be told")
        #expect(bench.counters[.millisecondsLost] == 9800 + 100)
        #expect(bench.counters[.sourceRestarts] == 2)
    }

    @Test("reports repeated messages less and less often, with the number left out")
    func messageLimit() {
        var limit = MessageLimit()
        var told: [(second: Int64, untold: Int)] = []
        for second in 0..<Int64(1000) {
            if let untold = limit.admit(at: second * Self.second) { told.append((second, untold)) }
        }
        #expect(told.map(\.second) == [0, 10, 30, 70, 150, 310, 630])
        #expect(told.map(\.untold) == [0, 9, 19, 39, 79, 159, 319])
    }

    @Test("a repeated message appears at least once an hour")
    func messageLimitEnds() {
        var limit = MessageLimit()
        let told = (0..<Int64(20_000)).filter { limit.admit(at: $0 * Self.second) != nil }
        #expect(told.suffix(6) == [2550, 5110, 8710, 12310, 15910, 19510])
    }

    @Test("after a long silence a message is new again")
    func messageLimitForgets() {
        var limit = MessageLimit()
        for second in 0..<Int64(100) { _ = limit.admit(at: second * Self.second) }
        let later = 100_000 * Self.second
        let untold = [0, 9, 10].map { limit.admit(at: later + $0 * Self.second) }
        #expect(untold == [29, nil, 1])
    }
}
