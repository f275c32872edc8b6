import CamPictures
import Glibc
import Testing
import CamPlatform

@testable import Capture
@testable import CamRecorder

/// A source that fails, and how it recovers, on the test's own thread and clock.
@Suite struct SupervisedSourceTests {
    /// A source with everything that it needs.
    final class Bench {
        let clock = ScriptedInterruptibleClock()
        let frames = BoundedQueue<PixelBuffer>(capacity: 10)
        let counters = Counters<CaptureCounter>()
        /// The results of reopening it, in order.
        var openings: [Result<ScriptedStream, CaptureError>] = []
        /// Called when it is opened.
        var onOpening: () -> Void = {}
        private(set) var openTimes: [Instant] = []
        private(set) var events: [SourceEvent] = []
        /// Of these, what a user reads.
        private(set) var told: [SourceEvent] = []

        /// Takes pictures until it ends; their numbers and runs.
        func run(
            _ stream: ScriptedStream, timeout: Duration? = nil, duration: Duration? = nil,
            canReopen: Bool = true
        ) -> (sequences: [UInt32], runs: [Int], error: CaptureError?) {
            let beginning = RecordingBeginning()
            beginning.begin(duration: duration, ahead: nil)
            var source = SupervisedSource(
                RecordingSource(
                    stream, reopen: canReopen ? { (format) throws(CaptureError) in try self.open() } : nil,
                    timeout: timeout,
                    report: { event, isTold in
                        self.events.append(event)
                        if isTold { self.told.append(event) }
                    }),
                frames: frames, counters: counters, stop: clock, beginning: beginning)
            defer { source.end() }
            var (sequences, runs) = ([UInt32](), [Int]())
            do throws(CaptureError) {
                guard try source.start() else { return (sequences, runs, nil) }
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
            openTimes.append(clock.now)
            guard !openings.isEmpty else { throw CaptureError(.notFound, device: "scripted") }
            let stream = try openings.removeFirst().get()
            onOpening()
            return stream
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

    @Test("pauses grow to two seconds, and are short again for a source that failed long ago")
    func backOff() throws {
        let lost = (0..<8).map { _ in gone() }
        let recovered = try ScriptedStream([.picture, .fail(.lost)])
        bench.openings = lost + [.success(recovered)] + lost
        bench.onOpening = { [clock = bench.clock] in clock.pass(.seconds(30)) }
        let start = bench.clock.now
        _ = bench.run(try ScriptedStream([.picture, .fail(.lost)]), timeout: .seconds(40))
        let times = [start] + bench.openTimes
        let pauses = zip(times, times.dropFirst()).map { ($1 - $0).inMilliseconds / 100 }
        #expect(pauses.prefix(9) == [1, 2, 4, 8, 16, 20, 20, 20, 20])
        #expect(pauses[9...].prefix(4) == [301, 2, 4, 8])
    }

    @Test("restarts a frozen camera first, then reopens it")
    func frozen() throws {
        let first = try ScriptedStream([
            .picture, .failOnce(.silent(for: .seconds(2))), .picture, .failOnce(.silent(for: .seconds(2))),
            .failOnce(.silent(for: .seconds(5))), .pictures(9),
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

    @Test("a source that stays away ends the recording when its time is up, with the original reason")
    func timeout() throws {
        let start = bench.clock.now
        let (sequences, _, error) = bench.run(
            try ScriptedStream([.picture, .fail(.lost)]), timeout: .seconds(30))
        #expect(sequences == [0])
        #expect(error == CaptureError(.lost, device: "scripted"))
        #expect(bench.clock.now == start + .seconds(30))
        #expect(bench.openTimes.count > 10)
        #expect(bench.counters[.sourceRestarts] == 0)
    }

    @Test("a source that is back but unusable says why")
    func unusable() throws {
        bench.openings = Array(repeating: gone(.busy(holder: "cheese")), count: 100)
        let error = bench.run(try ScriptedStream([.picture, .fail(.lost)]), timeout: .seconds(1)).error
        #expect(error == CaptureError(.busy(holder: "cheese"), device: "scripted"))
    }

    @Test("an unrecoverable failure ends it at once", arguments: [true, false])
    func noPatience(canReopen: Bool) throws {
        let start = bench.clock.now
        let error = bench.run(
            try ScriptedStream([.picture, .fail(.lost)]), timeout: canReopen ? .zero : nil,
            canReopen: canReopen
        ).error
        #expect(error == CaptureError(.lost, device: "scripted"))
        #expect(bench.clock.now == start)
        #expect(bench.openTimes.isEmpty)
        #expect(bench.told.isEmpty)
    }

    @Test("a source that does not start the first time fails")
    func firstStart() throws {
        let stream = try ScriptedStream([.picture])
        stream.startFailure = .noBandwidth
        #expect(bench.run(stream).error?.kind == .noBandwidth)
        #expect(bench.openTimes.isEmpty)
    }

    @Test(
        "a camera that is unplugged before it first starts is waited for",
        arguments: [
            CaptureError.Kind.lost, .notFound, .systemCallFailed("VIDIOC_STREAMON", errno: EPROTO),
            .systemCallFailed("VIDIOC_STREAMON", errno: EIO),
        ])
    func goneAtFirstStart(kind: CaptureError.Kind) throws {
        let stream = try ScriptedStream([.picture])
        stream.startFailure = kind
        let second = try ScriptedStream([.pictures(2)])
        bench.openings = [gone(), gone(), .success(second)]
        let (sequences, runs, error) = bench.run(stream, timeout: .seconds(30))
        #expect(error == nil)
        #expect(sequences == [0, 1])
        #expect(runs == [1, 1])
        #expect(stream.isReleased)
        #expect(bench.told.count == 2, "that it waits, and that the camera is there")
    }

    @Test("a camera that is unplugged before it first starts is waited for no longer than others")
    func goneForGood() throws {
        let (impatient, patient) = (Bench(), Bench())
        for (bench, seconds) in [(impatient, 0), (patient, 30)] {
            let stream = try ScriptedStream([.picture])
            stream.startFailure = .lost
            let start = bench.clock.now
            #expect(bench.run(stream, timeout: .seconds(seconds)).error?.kind == .lost)
            #expect(bench.clock.now == start + .seconds(seconds))
        }
        #expect(impatient.openTimes.isEmpty)
        let stopped = Bench()
        stopped.clock.isStopRequested = true
        let stream = try ScriptedStream([.picture])
        stream.startFailure = .lost
        let (sequences, _, error) = stopped.run(stream)
        #expect(sequences.isEmpty && error == nil)
    }

    @Test("the recording's duration ends the wait for a camera that never delivers, with the reason")
    func durationWithoutPictures() throws {
        let streamOn = CaptureError.Kind.systemCallFailed("VIDIOC_STREAMON", errno: EIO)
        for kind in [streamOn, .silent(for: .seconds(5))] {
            let bench = Bench()
            let stream = try ScriptedStream([.fail(kind)])
            if kind == streamOn { stream.startFailure = kind }
            let start = bench.clock.now
            let (sequences, _, error) = bench.run(stream, duration: .seconds(25))
            #expect(sequences.isEmpty && error?.kind == kind)
            #expect(bench.clock.now == start + .seconds(25))
        }
    }

    @Test("a camera that streams again but never delivers was away until the end")
    func neverBack() throws {
        let silence = CaptureError.Kind.silent(for: .seconds(5))
        let first = try ScriptedStream([.pictureAt(bench.clock.now), .fail(silence)])
        bench.openings = (0..<100).compactMap { _ in
            guard let stream = try? ScriptedStream([.fail(silence)]) else { return nil }
            return .success(stream)
        }
        #expect(bench.run(first, duration: .seconds(25)).error == nil)
        #expect(bench.counters[.sourceRestarts] > 1)
        #expect(bench.counters[.outages] == 1)
        #expect(bench.counters[.millisecondsAwayAtEnd] == 25_000)
        #expect(bench.counters[.millisecondsLost] == 25_000)
    }

    @Test("an outage that ended before the end is none at the end")
    func backInTime() throws {
        bench.openings = [.success(try ScriptedStream([.picture]))]
        _ = bench.run(try ScriptedStream([.picture, .fail(.lost)]))
        #expect(bench.counters[.outages] == 1)
        #expect(bench.counters[.millisecondsAwayAtEnd] == 0)
    }

    // MARK: Standstills

    @Test("a process that was stopped says for how long, and counts one outage")
    func stopped() throws {
        let clock = bench.clock
        let begin = clock.now
        // Ten pictures waited in the driver's buffers.
        let waiting = (1...10).map { ScriptedStream.Event.pictureAt(begin + .milliseconds(100) * $0) }
        let stream = try ScriptedStream(
            [.pictureAt(begin), .perform { clock.pass(.milliseconds(4000)) }] + waiting
                + [.pictureAt(begin + .seconds(4))])
        #expect(bench.run(stream).error == nil)
        #expect(bench.events == [.stoodStill(.stopped(.milliseconds(3900)))])
        #expect(bench.events.first?.description == "camrec was stopped for 3.9 s; recording continues")
        #expect(bench.counters[.standstills] == 1)
        #expect(bench.counters[.outages] == 1)
        #expect(bench.counters[.millisecondsStopped] == 3900)
        #expect(bench.counters[.millisecondsSuspended] == 0)
    }

    @Test("a suspended machine says for how long; what its camera needs to come back is the same outage")
    func suspended() throws {
        let clock = bench.clock
        let stream = try ScriptedStream([
            .pictureAt(clock.now), .perform { clock.suspendedTime += .milliseconds(3900) }, .fail(.lost),
        ])
        bench.openings = [gone(), .success(try ScriptedStream([.pictureAt(clock.now + .seconds(1))]))]
        #expect(bench.run(stream).error == nil)
        #expect(bench.events.first == .stoodStill(.suspended(.milliseconds(3900))))
        #expect(
            bench.events.first?.description == "the machine was suspended for 3.9 s; recording continues")
        #expect(bench.counters[.standstills] == 1)
        #expect(bench.counters[.outages] == 1)
        #expect(bench.counters[.millisecondsSuspended] == 3900)
        #expect(bench.counters[.sourceRestarts] == 1)
    }

    @Test("a slow camera, one whose clock is behind, and one that was away are no standstill")
    func noStandstill() throws {
        let clock = bench.clock
        let slow = try ScriptedStream([
            .pictureAt(clock.now - .seconds(59)), .perform { clock.pass(.milliseconds(1100)) },
            .pictureAt(clock.now - .seconds(58)), .perform { clock.pass(.seconds(20)) },
            .pictureAt(clock.now + .seconds(21)), .fail(.lost),
        ])
        bench.openings = [.success(try ScriptedStream([.pictureAt(clock.now - .seconds(30))]))]
        bench.onOpening = { clock.pass(.seconds(5)) }
        #expect(bench.run(slow).error == nil)
        #expect(bench.counters[.standstills] == 0)
        #expect(bench.counters[.outages] == 1)
    }

    // MARK: Times

    @Test("counts wrong times of capture, and reports each kind once")
    func wrongTimes() throws {
        let second = try ScriptedStream([.wrongTimes(.standing), .picture])
        bench.openings = [.success(second)]
        _ = bench.run(
            try ScriptedStream([
                .picture, .wrongTimes(.standing), .picture, .wrongTimes(.standing), .picture,
                .wrongTimes(.jumped(.seconds(-10))), .picture, .wrongTimes(.jumped(.seconds(-5))), .picture,
                .fail(.lost),
            ]))
        let wrong = bench.events.filter { if case .wrongTimes = $0 { true } else { false } }
        #expect(
            wrong == [
                .wrongTimes(.standing, device: "scripted"),
                .wrongTimes(.jumped(.seconds(-10)), device: "scripted"),
            ])
        #expect(
            wrong.last?.description
                == "scripted: its driver's time of capture jumped back by 10.0 s; recording continues with corrected times"
        )
        #expect(bench.counters[.correctedTimes] == 5)
    }

    @Test("a stop, or the recording's duration, ends the wait without an error")
    func ended() throws {
        bench.clock.isStopRequested = true
        #expect(bench.run(try ScriptedStream([.picture, .fail(.lost)])).error == nil)
        let other = Bench()
        let stream = try ScriptedStream([.picture, .fail(.lost)])
        // Its first picture is of time 0.
        let (_, _, error) = other.run(stream, duration: other.clock.now - .start + .seconds(5))
        #expect(error == nil)
        #expect(other.clock.waits.last == .start + .seconds(1005))
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
            .loss(100, 0), .pictures(2), .failOnce(.silent(for: .seconds(2))), .picture,
        ])
        bench.openings = [gone(), gone(), .success(second)]
        _ = bench.run(try ScriptedStream([.pictures(3), .fail(.lost)]), timeout: .seconds(30))
        // The first stream's last picture is of 0.2 s, the second's first of 10 s.
        #expect(
            bench.told == [
                .waiting(lost, timeout: .seconds(30)),
                .resumed(lost, device: "scripted", after: .milliseconds(9800), suppressed: 0),
            ], "the second outage follows too soon to be told")
        let silent = CaptureError(.silent(for: .seconds(2)), device: "scripted")
        #expect(
            bench.events.suffix(2) == [
                .failed(silent),
                .resumed(silent, device: "scripted", after: .milliseconds(100), suppressed: 0),
            ], "but programs learn of each")
        #expect(bench.events.first == .failed(lost), "and of a failure at once")
        #expect(bench.counters[.millisecondsLost] == 9800 + 100)
        #expect(bench.counters[.sourceRestarts] == 2)
    }

    @Test("reports repeated messages less and less often, with the number left out")
    func messageLimit() {
        var limit = MessageLimit()
        var told: [(second: Int64, suppressed: Int)] = []
        for second in 0..<Int64(1000) {
            if let suppressed = limit.admit(at: .start + .seconds(second)) {
                told.append((second, suppressed))
            }
        }
        #expect(told.map(\.second) == [0, 10, 30, 70, 150, 310, 630])
        #expect(told.map(\.suppressed) == [0, 9, 19, 39, 79, 159, 319])
    }

    @Test("a repeated message appears at least once an hour")
    func messageLimitEnds() {
        var limit = MessageLimit()
        let told = (0..<Int64(20_000)).filter { limit.admit(at: .start + .seconds($0)) != nil }
        #expect(told.suffix(6) == [2550, 5110, 8710, 12310, 15910, 19510])
    }

    @Test("after a long silence a message is new again")
    func messageLimitForgets() {
        var limit = MessageLimit()
        for second in 0..<Int64(100) { _ = limit.admit(at: .start + .seconds(second)) }
        let later = Instant.start + .seconds(100_000)
        let suppressed = [0, 9, 10].map { limit.admit(at: later + .seconds($0)) }
        #expect(suppressed == [29, nil, 1])
    }
}
