import Synchronization

/// The rates that a recording was asked for, at its start or since, in bits a second: what another may be.
final class RateBounds: Sendable {
    private let values: Mutex<(average: Int?, maximum: Int?)>

    /// What the level allows.
    let highest: Int?

    /// Nil where nothing bounds the others.
    init(average: Int?, maximum: Int?, highest: Int?) {
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
