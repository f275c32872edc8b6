import Synchronization

/// Counters that any thread may increment and read while a recording runs.
public final class Counters<Counter: CaseIterable & RawRepresentable<Int> & Sendable>: Sendable {
    private let cells = Counter.allCases.map { _ in Cell() }

    init() {}

    /// The current value.
    public subscript(_ counter: Counter) -> Int { cells[counter.rawValue].value.load(ordering: .relaxed) }

    func add(_ amount: Int = 1, to counter: Counter) {
        cells[counter.rawValue].value.wrappingAdd(amount, ordering: .relaxed)
    }

    private final class Cell: Sendable {
        let value = Atomic<Int>(0)
    }
}
