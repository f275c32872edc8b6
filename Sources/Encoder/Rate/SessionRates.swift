/// The rates that a session is opened with, and whether it accepts others while it is open.
struct SessionRates {
    /// Nil if quality alone decides.
    let opening: RateRegulator.Opening?
    /// libx264 does: no other encoder of libavcodec changes its rate while it is open.
    let followsTime: Bool

    init(_ properties: SessionProperties, _ regulator: RateRegulator, followsTime: Bool) {
        self.followsTime = followsTime
        opening = regulator.opening(
            properties.rateModel, nominalRate: properties.frameRate.framesPerSecond, followsTime: followsTime)
    }
}
