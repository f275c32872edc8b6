import TestSupport
import Testing
import CamPlatform

@testable import CamSound

/// Samples come from a thread of their own, which may hang.
@Suite(.hangGuard) struct MicrophoneReaderTests {
    /// Counts, and says when it is closed.
    private final class Counting: SoundSource {
        let name = "counting"
        let format = SoundFormat(rate: 48_000, channels: 1)
        let overruns = 0
        private let closed: CancellationFlag
        private var next: Int16 = 0

        init(closed: CancellationFlag) { self.closed = closed }

        deinit { closed.raise() }

        func read(into room: UnsafeMutableBufferPointer<Int16>, until deadline: Instant) -> SoundReading? {
            for index in 0..<480 { room[index] = next &+ Int16(index) }
            next &+= 480
            return SoundReading(frames: 480, end: .now)
        }
    }

    @Test("samples arrive in order, and what nobody takes is bounded: the latest stay")
    func order() throws {
        let closed = try #require(CancellationFlag())
        let reader = try #require(MicrophoneReader { Counting(closed: closed) })
        let format = reader.firstFormat(until: .now + .seconds(20))
        #expect(try format?.get() == SoundFormat(rate: 48_000, channels: 1))
        // It delivers as fast as it is read.
        while reader.overruns == 0 { _ = closed.wait(until: .now + .milliseconds(1)) }
        var batch = MicrophoneReader.Batch()
        #expect(reader.take(into: &batch, until: .now + .seconds(20)))
        #expect(batch.items.first == .opened(name: "counting", SoundFormat(rate: 48_000, channels: 1)))
        var (total, last) = (0, batch.samples[0] &- 1)
        for case .samples(_, let count) in batch.items {
            for index in total..<total + count {
                #expect(batch.samples[index] == last &+ 1)
                last = batch.samples[index]
            }
            total += count
        }
        #expect(total > 0 && total <= batch.samples.count)
        #expect(reader.stop(patience: .seconds(20)))
        guard case .ready = closed.wait(until: .now + .seconds(20)) else {
            #expect(closed.isRaised, "it is closed")
            return
        }
    }

    @Test("one that opens when it is no longer wanted is closed at once")
    func late() throws {
        let (go, closed) = (try #require(CancellationFlag()), try #require(CancellationFlag()))
        let isOpening = try #require(CancellationFlag())
        let reader = try #require(
            MicrophoneReader {
                isOpening.raise()
                _ = go.wait()
                return Counting(closed: closed)
            })
        // A thread that has not begun when it is stopped opens nothing.
        _ = isOpening.wait(until: .now + .seconds(20))
        #expect(reader.firstFormat(until: .now + .milliseconds(20)) == nil)
        #expect(!reader.stop(patience: .milliseconds(20)))
        go.raise()
        _ = closed.wait(until: .now + .seconds(20))
        #expect(closed.isRaised)
    }

    @Test("a failure is news once, until it opens")
    func failure() throws {
        let reader = try #require(
            MicrophoneReader { () throws(SoundError) in throw SoundError(.busy, "m") })
        #expect(reader.firstFormat(until: .now + .seconds(20)) == .failure(SoundError(.busy, "m")))
        var batch = MicrophoneReader.Batch()
        #expect(reader.take(into: &batch, until: .now + .seconds(20)))
        #expect(batch.items == [.lost(SoundError(.busy, "m"))])
        #expect(reader.stop(patience: .seconds(20)))
    }
}
