import Synchronization

/// The rates that a recording was asked for, at its start or since, in bits a second: what another may be.
final class RateBounds: Sendable {
    private let values: Mutex<(average: Int?, maximum: Int?)>

    /// Nil where nothing bounds the other.
    init(average: Int?, maximum: Int?) { values = Mutex((average, maximum)) }

    var average: Int? {
        get { values.withLock { $0.average } }
        set { values.withLock { $0.average = newValue } }
    }

    var maximum: Int? {
        get { values.withLock { $0.maximum } }
        set { values.withLock { $0.maximum = newValue } }
    }
}
