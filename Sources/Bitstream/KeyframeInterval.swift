/// The distance from one regular keyframe to the next: frames, time of capture, or whichever is over first.
public struct KeyframeInterval: Sendable, Hashable {
    /// Frames 0, N, 2N … of the recording; nil if only time counts.
    public let frames: Int?
    /// Nanoseconds of capture after the keyframe before; nil if only frames count.
    public let duration: Int64?

    /// Frames, at least 1.
    public static func frames(_ count: Int) -> KeyframeInterval {
        KeyframeInterval(frames: max(1, count), duration: nil)
    }

    /// Seconds of capture, more than 0.
    public static func seconds(_ seconds: Double) -> KeyframeInterval {
        KeyframeInterval(frames: nil, duration: nanoseconds(seconds))
    }

    /// Frames or seconds, whichever is over first.
    public static func frames(_ count: Int, orSeconds seconds: Double) -> KeyframeInterval {
        KeyframeInterval(frames: max(1, count), duration: nanoseconds(seconds))
    }

    /// The same in frames if they come evenly, at least 1.
    public func frames(framesPerSecond: Double) -> Int {
        let inTime = duration.map { Int(min(1e9, Double($0) / 1e9 * framesPerSecond).rounded()) }
        return max(1, min(frames ?? .max, inTime ?? .max))
    }

    private static func nanoseconds(_ seconds: Double) -> Int64 {
        Int64(min(1e9, max(1e-9, seconds)) * 1e9)
    }
}
