import CamPlatform

/// When a silent camera counts as frozen: two seconds and five frame intervals after its last frame, or five
/// seconds and five frame intervals after it was started.
///
/// A stopped process or a suspended machine could not have received a frame: the deadline then starts over.
struct FrameDeadline {
    private(set) var time = Instant.distantPast
    /// How long the camera may deliver nothing.
    private(set) var patience = Duration.zero

    private let clock: any SourceClock
    private let frameDuration: Duration
    private var suspended: Duration

    private static let startGrace = Duration.seconds(5)
    private static let usual = Duration.seconds(2)
    /// A wait that ends this much too late means that the process or the machine was stopped.
    private static let lateness = Duration.seconds(1)
    /// The two clocks that tell how long the machine was suspended are read one after the other.
    private static let clockTolerance = Duration.milliseconds(500)

    init(clock: any SourceClock, frameDuration: Duration) {
        self.clock = clock
        self.frameDuration = frameDuration
        suspended = clock.suspendedTime
    }

    /// Restarts the deadline.
    /// - Parameter isFirst: for the first frame.
    mutating func renew(isFirst: Bool) {
        patience = (isFirst ? Self.startGrace : Self.usual) + frameDuration * 5
        time = clock.now + patience
    }

    /// Whether the camera's time is up without a frame.
    mutating func isOver() -> Bool {
        let now = clock.now
        guard now >= time else { return false }
        let suspended = clock.suspendedTime
        guard now - time < Self.lateness, (suspended - self.suspended).magnitude < Self.clockTolerance else {
            self.suspended = suspended
            time = now + patience
            return false
        }
        return true
    }
}
