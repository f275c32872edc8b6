import CamPlatform
import Glibc

/// Where sound comes from. Used by one thread.
public protocol SoundSource: AnyObject {
    /// The name in messages.
    var name: String { get }

    /// The sampling, by the source's own clock.
    var format: SoundFormat { get }

    /// How often the source has lost samples because they were not read in time.
    var overruns: Int { get }

    /// Reads interleaved samples, and waits for some until a deadline.
    /// - Parameter room: storage for whole frames with all of the device's channels.
    /// - Returns: the frames read; nil if there were none, possibly before the deadline.
    func read(
        into room: UnsafeMutableBufferPointer<Int16>, until deadline: Instant
    ) throws(SoundError) -> SoundReading?
}

/// Frames that were read in one call.
public struct SoundReading: Sendable, Hashable {
    /// How many.
    public var frames: Int
    /// The end of the last frame, on the monotonic clock.
    public var end: Instant

    /// Creates a reading.
    public init(frames: Int, end: Instant) { (self.frames, self.end) = (frames, end) }

    /// How long they last at a rate.
    public func duration(at rate: Int) -> Duration {
        SoundFormat(rate: rate, channels: 1).duration(of: frames)
    }
}

// MARK: - The test source

/// A source that needs no microphone: a soft tone, and a beep at the beginning of each second of the monotonic clock.
public final class TestMicrophone: SoundSource {
    public let name = testName
    public let format = SoundFormat(rate: SoundCodec.rate, channels: 1)
    public let overruns = 0

    /// The name on the command line.
    public static let testName = "test"

    /// The number of the next sample, from the clock's start on.
    private var frame: Int
    /// Never signaled: only used to wait for a time.
    private let monitor = Monitor()

    private static let period = Duration.milliseconds(20)
    /// The frequencies of the tone and the beep, in hertz; whole numbers of periods fit into a second.
    private static let (tone, beep) = (440.0, 1000.0)
    private static let beepLength = 0.1

    /// Creates a microphone whose sound begins now.
    public init() { frame = format.frames(in: Instant.now - .start) }

    public func read(
        into room: UnsafeMutableBufferPointer<Int16>, until deadline: Instant
    ) -> SoundReading? {
        let wake = min(deadline, time(of: frame) + Self.period)
        monitor.withLock { while Instant.now < wake { monitor.wait(until: wake) } }
        let count = min(format.frames(in: Instant.now - .start) - frame, room.count)
        guard count > 0 else { return nil }
        for index in 0..<count { room[index] = Self.sample(frame + index) }
        frame += count
        return SoundReading(frames: count, end: time(of: frame))
    }

    private func time(of frame: Int) -> Instant { .start + format.duration(of: frame) }

    private static func sample(_ frame: Int) -> Int16 {
        let seconds = Double(frame % SoundCodec.rate) / Double(SoundCodec.rate)
        let isBeep = seconds < beepLength
        return Int16((isBeep ? 16_000 : 500) * sin(2 * .pi * (isBeep ? beep : tone) * seconds))
    }
}
