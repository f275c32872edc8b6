import Motion

/// How a recording watches for motion.
public struct MotionPlan: Sendable, Hashable {
    public let sensitivity: MotionSensitivity
    /// What to ignore; nil to watch everything.
    public let mask: MotionMask?

    /// Watches pictures with a sensitivity, but for what a mask ignores.
    public init(sensitivity: MotionSensitivity = .usual, mask: MotionMask? = nil) {
        (self.sensitivity, self.mask) = (sensitivity, mask)
    }
}
