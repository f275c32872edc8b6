/// How a picture was exposed, as far as the camera's driver says.
public struct Exposure: Sendable, Hashable {
    /// How long; nil if unknown.
    public let time: Duration?
    /// The sensitivity as an ISO speed; nil if unknown.
    public let sensitivity: Int?

    /// Nil if nothing is known.
    public init?(time: Duration?, sensitivity: Int?) {
        guard time != nil || sensitivity != nil else { return nil }
        (self.time, self.sensitivity) = (time, sensitivity)
    }
}
