/// The interval between regular keyframes: frames, capture time, or whichever ends first.
public struct KeyframeInterval: Sendable, Hashable {
    /// Frames 0, N, 2N … of the recording; nil if only time counts.
    public let frames: Int?
    /// Capture time since the previous keyframe; nil if only frames count.
    public let duration: Duration?

    /// Frames, at least 1.
    public static func frames(_ count: Int) -> KeyframeInterval {
        KeyframeInterval(frames: max(1, count), duration: nil)
    }

    /// Seconds of capture, more than 0.
    public static func seconds(_ seconds: Double) -> KeyframeInterval {
        KeyframeInterval(frames: nil, duration: bounded(seconds))
    }

    /// Frames or seconds, whichever ends first.
    public static func frames(_ count: Int, orSeconds seconds: Double) -> KeyframeInterval {
        KeyframeInterval(frames: max(1, count), duration: bounded(seconds))
    }

    /// The same in frames if they come evenly, at least 1.
    public func frames(framesPerSecond: Double) -> Int {
        let inTime = duration.map { Int(min(1e9, $0 / .seconds(1) * framesPerSecond).rounded()) }
        return max(1, min(frames ?? .max, inTime ?? .max))
    }

    /// A nanosecond to 31 years, in whole nanoseconds.
    private static func bounded(_ seconds: Double) -> Duration {
        .nanoseconds(Int64(min(1e9, max(1e-9, seconds)) * 1e9))
    }
}
