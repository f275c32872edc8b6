import Time

/// A time in which an output cannot be written.
public struct OutputOutage: Sendable, Equatable {
    /// The latest failure.
    public var error: OutputError
    /// When it began.
    public let since: WallTime

    /// An outage that has not ended.
    public init(_ error: OutputError, since: WallTime) { (self.error, self.since) = (error, since) }
}
