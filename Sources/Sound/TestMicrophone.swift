import Glibc
import Time

/// A source that needs no microphone: a soft tone, and a beep at the beginning of each second of the monotonic clock.
public final class TestMicrophone: SoundSource {
    public let name = testName
    public let format = SoundFormat(rate: SoundCodec.rate, channels: 1)
    public let overruns = 0

    /// What it is called on the command line.
    public static let testName = "test"

    private let clock: any TimeSource
    private var frame: Int64

    private static let period = Duration.milliseconds(20)
    /// Of the tone and of the beep, in hertz; they fit into a second.
    private static let (tone, beep) = (440.0, 1000.0)
    private static let beepLength = 0.1

    /// Creates one whose sound begins now.
    public init(clock: any TimeSource = SystemTime()) {
        self.clock = clock
        frame = Self.frame(at: clock.now)
    }

    public func read(
        into room: UnsafeMutableBufferPointer<Int16>, until deadline: Instant
    ) -> SoundReading? {
        let wake = min(deadline, Self.time(of: frame) + Self.period)
        wait(until: wake)
        let count = min(Int(Self.frame(at: clock.now) - frame), room.count)
        guard count > 0 else { return nil }
        for index in 0..<count { room[index] = Self.sample(frame + Int64(index)) }
        frame += Int64(count)
        return SoundReading(frames: count, end: Self.time(of: frame))
    }

    private func wait(until moment: Instant) {
        var time = timespec(
            tv_sec: Int(moment.nanoseconds / 1_000_000_000), tv_nsec: Int(moment.nanoseconds % 1_000_000_000))
        _ = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil)
    }

    private static func frame(at moment: Instant) -> Int64 {
        let (seconds, rest) = moment.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return seconds * Int64(SoundCodec.rate) + rest * Int64(SoundCodec.rate) / 1_000_000_000
    }

    private static func time(of frame: Int64) -> Instant {
        let (seconds, rest) = frame.quotientAndRemainder(dividingBy: Int64(SoundCodec.rate))
        return Instant(nanoseconds: seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(SoundCodec.rate))
    }

    private static func sample(_ frame: Int64) -> Int16 {
        let seconds = Double(frame % Int64(SoundCodec.rate)) / Double(SoundCodec.rate)
        let isBeep = seconds < beepLength
        return Int16((isBeep ? 16_000 : 500) * sin(2 * .pi * (isBeep ? beep : tone) * seconds))
    }
}
