/// The interval between regular keyframes: a number of frames, a capture time, or the shorter of both.
public struct KeyframeInterval: Sendable, Hashable {
    /// The number of frames N: frames 0, N, 2N … of the recording are keyframes; nil if only time counts.
    public let frames: Int?
    /// The capture time since the previous keyframe; nil if only frames count.
    public let duration: Duration?

    /// An interval of at least 1 frame.
    public static func frames(_ count: Int) -> KeyframeInterval {
        KeyframeInterval(frames: max(1, count), duration: nil)
    }

    /// An interval of more than 0 seconds of capture time.
    public static func seconds(_ seconds: Double) -> KeyframeInterval {
        KeyframeInterval(frames: nil, duration: bounded(seconds))
    }

    /// An interval that ends after these frames or seconds, whichever comes first.
    public static func frames(_ count: Int, orSeconds seconds: Double) -> KeyframeInterval {
        KeyframeInterval(frames: max(1, count), duration: bounded(seconds))
    }

    /// The interval in frames at a constant frame rate, at least 1.
    public func frames(framesPerSecond: Double) -> Int {
        let inTime = duration.map { Int(min(1e9, $0 / .seconds(1) * framesPerSecond).rounded()) }
        return max(1, min(frames ?? .max, inTime ?? .max))
    }

    /// The seconds as a duration between a nanosecond and 31 years.
    private static func bounded(_ seconds: Double) -> Duration {
        .nanoseconds(Int64(min(1e9, max(1e-9, seconds)) * 1e9))
    }
}
