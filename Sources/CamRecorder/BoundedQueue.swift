import CamPlatform

/// A first-in, first-out queue between two threads, with fixed capacity and preallocated storage.
final class BoundedQueue<Element: ~Copyable & Sendable>: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private let slots: UnsafeMutablePointer<Element>
    private let capacity: Int
    private let costLimit: Int
    private var costs: [Int]
    private var first = 0
    private var count = 0
    private var totalCost = 0
    private var isClosed = false
    /// The time of the latest `pop`, or of the queue's creation.
    private var latestPop = Instant.now

    /// The result of waiting for room.
    enum Room {
        case atOnce
        case later
        /// No element was taken for too long.
        case none
    }

    /// - Parameters:
    ///   - capacity: the maximum number of elements.
    ///   - costLimit: the maximum total cost; a single element may exceed it.
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

    /// Adds an element, replacing the oldest if the queue is full.
    /// - Parameter limit: the maximum number of elements, if less than the capacity; at least 1.
    /// - Returns: the number of elements dropped: 1 if the oldest was replaced, or if the queue is closed.
    func pushDroppingOldest(_ element: consuming Element, limit: Int = .max) -> Int {
        // Destroy the displaced element outside the lock: its deinit may take other locks.
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
    /// - Returns: false if the queue is closed; the element is then dropped.
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

    /// Waits until the next `push` by this thread, the only producer, cannot block. A closed queue always has
    /// room.
    /// - Parameter patience: the longest time without a `pop` before the wait fails; nil to wait forever.
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

    /// Adds an element with no cost, or drops it if the queue is full or closed. Any thread may call it.
    /// - Parameter places: the number of elements to leave room for.
    /// - Returns: whether it was added.
    func offer(_ element: consuming Element, leaving places: Int = 0) -> Bool {
        var incoming: Element? = element
        return monitor.withLock {
            guard !isClosed, count < capacity - places, let element = incoming.take() else { return false }
            append(element, cost: 0)
            monitor.signal()
            return true
        }
    }

    /// Waits for the oldest element and removes it. Returns nil once the queue is closed and empty.
    func pop() -> Element? {
        switch pop(until: nil) {
        case .element(let element): element
        case .end: nil
        case .due: nil
        }
    }

    /// The result of waiting for an element.
    enum Popped: ~Copyable {
        case element(Element)
        /// The queue is closed and empty.
        case end
        /// The deadline passed.
        case due
    }

    /// Waits for the oldest element and removes it.
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

    /// Whether the queue is empty.
    var isEmpty: Bool { monitor.withLock { count == 0 } }

    /// Whether no more elements come.
    var hasClosed: Bool { monitor.withLock { isClosed } }

    /// Drops all elements.
    /// - Returns: the number of elements dropped.
    func removeAll() -> Int {
        var removed = 0
        // One by one, outside the lock: an element's deinit may take other locks.
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

    /// Rejects further elements; queued ones can still be popped.
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
        count -= 1
        // A queue that never holds much reuses its first slots, and the memory of the others stays untouched.
        first = count == 0 ? 0 : (first + 1) % capacity
        return element
    }
}
