import Threading
import Time

/// A first-in, first-out queue between two threads, of fixed capacity, whose storage is made beforehand.
final class BoundedQueue<Element: ~Copyable & Sendable>: @unchecked Sendable {
    // Safe to share: everything mutable is touched with the monitor's lock held.
    private let monitor = Monitor()
    private let slots: UnsafeMutablePointer<Element>
    private let capacity: Int
    private let costLimit: Int
    private var costs: [Int]
    private var first = 0
    private var count = 0
    private var totalCost = 0
    private var isClosed = false
    /// When the latest element was taken, or else when the queue was made, on CLOCK_MONOTONIC.
    private var latestPop = Instant.now

    /// What came of waiting for room.
    enum Room {
        case atOnce
        case later
        /// Nothing was taken for too long.
        case none
    }

    /// - Parameters:
    ///   - capacity: elements at most.
    ///   - costLimit: the sum of the elements' costs at most; a single element may exceed it.
    init(capacity: Int, costLimit: Int = .max) {
        precondition(capacity > 0)
        self.capacity = capacity
        self.costLimit = costLimit
        slots = .allocate(capacity: capacity)
        costs = Array(repeating: 0, count: capacity)
    }

    deinit {
        while let element = takeFirst() { _ = consume element }
        slots.deallocate()
    }

    /// Adds an element, in place of the oldest where there is no room.
    /// - Parameter limit: elements at most, where that is less than the capacity; at least 1.
    /// - Returns: how many elements were lost for it: 1 for the oldest, or for this one where the queue is
    ///   closed.
    func pushDroppingOldest(_ element: consuming Element, limit: Int = .max) -> Int {
        // The displaced element must end outside the lock: its end may take other locks.
        var incoming: Element? = element
        var displaced: Element?
        let isAccepted = monitor.withLock {
            guard !isClosed, let element = incoming.take() else { return false }
            if count >= min(capacity, limit) { displaced = takeFirst() }
            append(element, cost: 0)
            monitor.signal()
            return true
        }
        return isAccepted && displaced == nil ? 0 : 1
    }

    /// Adds an element, waiting for room.
    /// - Returns: false where the queue is closed; the element is then gone.
    func push(_ element: consuming Element, cost: Int = 0) -> Bool {
        var incoming: Element? = element
        return monitor.withLock {
            while !hasRoom(for: cost) { monitor.wait() }
            guard !isClosed, let element = incoming.take() else { return false }
            append(element, cost: cost)
            monitor.signal()
            return true
        }
    }

    /// Waits until the next `push` of this thread, the only one, will not have to. A closed queue always has room.
    /// - Parameter patience: the time without a `pop` after which it waits no longer; nil forever.
    func waitForRoom(cost: Int, patience: Duration?) -> Room {
        monitor.withLock {
            if hasRoom(for: cost) { return .atOnce }
            while !hasRoom(for: cost) {
                let end = patience.map { latestPop + $0 }
                if let end, .now >= end { return .none }
                monitor.wait(until: end)
            }
            return .later
        }
    }

    /// Adds an element where there is room, at no cost.
    func offer(_ element: consuming Element) {
        var incoming: Element? = element
        monitor.withLock {
            guard !isClosed, count < capacity, let element = incoming.take() else { return }
            append(element, cost: 0)
            monitor.signal()
        }
    }

    /// The oldest element; waits for one. Nil once the queue is closed and empty.
    func pop() -> Element? {
        switch pop(until: nil) {
        case .element(let element): element
        case .end: nil
        case .due: nil
        }
    }

    /// What came of waiting for an element.
    enum Popped: ~Copyable {
        case element(Element)
        /// The queue is closed and empty.
        case end
        /// The deadline came first.
        case due
    }

    /// The oldest element; waits for one.
    /// - Parameter deadline: nil for none.
    func pop(until deadline: Instant?) -> Popped {
        monitor.withLock {
            while count == 0, !isClosed {
                if let deadline, .now >= deadline { return .due }
                monitor.wait(until: deadline)
            }
            let element = takeFirst()
            latestPop = Instant.now
            monitor.signal()
            guard let element else { return .end }
            return .element(element)
        }
    }

    /// Whether everything was taken.
    var isEmpty: Bool { monitor.withLock { count == 0 } }

    /// Drops every element that is in it.
    /// - Returns: how many there were.
    func removeAll() -> Int {
        var removed = 0
        // One by one, because an element must end outside the lock: its end may take other locks.
        while let element = takeFirstAtOnce() {
            _ = consume element
            removed += 1
        }
        return removed
    }

    private func takeFirstAtOnce() -> Element? {
        monitor.withLock {
            let element = takeFirst()
            monitor.signal()
            return element
        }
    }

    /// Takes no more elements; those in it can still be popped.
    func close() {
        monitor.withLock {
            isClosed = true
            monitor.signal()
        }
    }

    private func hasRoom(for cost: Int) -> Bool {
        isClosed || (count < capacity && (count == 0 || totalCost + cost <= costLimit))
    }

    private func append(_ element: consuming Element, cost: Int) {
        let index = (first + count) % capacity
        (slots + index).initialize(to: element)
        costs[index] = cost
        totalCost += cost
        count += 1
    }

    private func takeFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = (slots + first).move()
        totalCost -= costs[first]
        first = (first + 1) % capacity
        count -= 1
        return element
    }
}
