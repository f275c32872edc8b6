import CamPlatform

/// Time that moves only when a test says so.
open class ScriptedTime: TimeSource, @unchecked Sendable {
    // Safe to share: a test uses it from one thread at a time.
    public var now: Instant
    public var wallTime: WallTime
    /// How long the machine was suspended.
    public var suspendedTime = Duration.zero

    /// Both clocks stand at these times.
    public init(now: Instant, wallTime: WallTime = WallTime(seconds: 1_700_000_000)) {
        (self.now, self.wallTime) = (now, wallTime)
    }

    /// Lets time go by.
    public func pass(_ duration: Duration) {
        now += duration
        wallTime += duration
    }
}
