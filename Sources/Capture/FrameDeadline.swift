/// Decides when a silent camera is considered frozen: two seconds and five of its frames after the last frame,
/// and five seconds and five frames after it was started.
///
/// A stopped process or a suspended machine could not have taken a frame meanwhile: its time starts again.
struct FrameDeadline {
    /// Monotonic nanoseconds.
    private(set) var time: Int64 = 0
    /// Nanoseconds without a frame.
    private(set) var patience: Int64 = 0

    private let clock: any SourceClock
    private let frameDuration: Int64
    private var suspended: Int64

    private static let startGrace: Int64 = 5_000_000_000
    private static let usual: Int64 = 2_000_000_000
    /// A wait that ends this much too late means that the process did not run.
    private static let lateness: Int64 = 1_000_000_000
    /// The two clocks that show how long the machine was suspended are read one after another.
    private static let clockTolerance: Int64 = 500_000_000

    init(clock: any SourceClock, frameDuration: Int64) {
        self.clock = clock
        self.frameDuration = frameDuration
        suspended = clock.suspended()
    }

    /// Starts the time again.
    /// - Parameter isFirst: for the first frame.
    mutating func renew(isFirst: Bool) {
        patience = (isFirst ? Self.startGrace : Self.usual) + 5 * frameDuration
        time = clock.now() + patience
    }

    /// Whether the camera had its time and delivered nothing.
    mutating func isOver() -> Bool {
        let now = clock.now()
        guard now >= time else { return false }
        let suspended = clock.suspended()
        guard now - time < Self.lateness, abs(suspended - self.suspended) < Self.clockTolerance else {
            self.suspended = suspended
            time = now + patience
            return false
        }
        return true
    }
}
