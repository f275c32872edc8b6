import Synchronization

/// The limits on a new bit rate: the rates requested so far, in bits per second.
public final class RateBounds: Sendable {
    private let values: Mutex<(average: Int?, maximum: Int?)>

    /// The highest rate that the level allows.
    let highest: Int?

    /// Creates bounds; nil means no limit.
    public init(average: Int?, maximum: Int?, highest: Int?) {
        values = Mutex((average, maximum))
        self.highest = highest
    }

    var average: Int? {
        get { values.withLock { $0.average } }
        set { values.withLock { $0.average = newValue } }
    }

    var maximum: Int? {
        get { values.withLock { $0.maximum } }
        set { values.withLock { $0.maximum = newValue } }
    }
}
