/// A bounded queue from which one task at a time takes elements. Any thread or task adds them.
package final class AsyncQueue<Element: Sendable>: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private let limit: Int
    private var elements: [Element] = []
    /// How the queue ended; nil while elements may come.
    private var end: End?
    /// The tasks that wait, in the order in which they came.
    private var suspended: [Waiter] = []
    private var waiterCount = 0

    private struct Waiter {
        let id: Int
        let side: Side
        let continuation: CheckedContinuation<Void, Never>
    }

    private enum Side {
        /// Waits for an element, or the end.
        case reader
        /// Waits for room, or the end.
        case writer
    }

    private enum End {
        case normal
        case failure(any Error)
    }

    /// - Parameter limit: the number of elements for which there is room, at least 1.
    package init(limit: Int) { self.limit = max(1, limit) }

    /// Adds an element, also where there is no room. After the end, it is dropped.
    package func append(_ element: Element) { _ = add(element, atMost: .max) }

    /// Adds an element if there is room.
    /// - Returns: false if there is none, or the queue has ended.
    package func offer(_ element: Element) -> Bool { add(element, atMost: limit) }

    private func add(_ element: Element, atMost limit: Int) -> Bool {
        var reader: CheckedContinuation<Void, Never>?
        defer { reader?.resume() }
        return monitor.withLock {
            guard end == nil, elements.count < limit else { return false }
            elements.append(element)
            reader = suspended.firstIndex { $0.side == .reader }.map { suspended.remove(at: $0).continuation }
            return true
        }
    }

    /// Blocks the thread until there is room, or the queue has ended.
    package func awaitRoom() {
        monitor.withLock {
            while end == nil, elements.count >= limit { monitor.wait() }
        }
    }

    /// Waits for room, or the end of the queue.
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func awaitRoom() async throws {
        while true {
            try Task.checkCancellation()
            if hasRoom || hasEnded { return }
            await suspend(.writer) { end != nil || elements.count < limit }
        }
    }

    /// Ends the queue; what is in it can still be taken. Only the first end counts.
    /// - Parameter error: thrown to the reader after the last element.
    package func finish(throwing error: (any Error)? = nil) {
        let waiting = monitor.withLock {
            if end == nil { end = error.map(End.failure) ?? .normal }
            monitor.signal()
            defer { suspended.removeAll() }
            return suspended
        }
        for waiter in waiting { waiter.continuation.resume() }
    }

    /// Whether no more elements come.
    package var hasEnded: Bool { monitor.withLock { end != nil } }

    private var hasRoom: Bool { monitor.withLock { elements.count < limit } }

    /// Waits for the next element.
    /// - Returns: nil at the end, and in a task that is cancelled.
    /// - Throws: the error with which the queue ended, once.
    package func next() async throws -> Element? {
        while !Task.isCancelled {
            let (element, end) = takeFirst()
            if let element { return element }
            switch end {
            case .normal?: return nil
            case .failure(let error)?: throw error
            case nil: break
            }
            await suspend(.reader) { self.end != nil || !elements.isEmpty }
        }
        return nil
    }

    private func takeFirst() -> (Element?, End?) {
        var writers: [Waiter] = []
        defer { for writer in writers { writer.continuation.resume() } }
        return monitor.withLock { () -> (Element?, End?) in
            guard !elements.isEmpty else {
                defer { if end != nil { end = .normal } }
                return (nil, end)
            }
            let element = elements.removeFirst()
            monitor.signal()
            guard elements.count < limit else { return (element, nil) }
            // Resumes all of them: if only one were resumed and then cancelled, the room would stay unused.
            writers = suspended.filter { $0.side == .writer }
            suspended.removeAll { $0.side == .writer }
            return (element, nil)
        }
    }

    /// Suspends the task until it is resumed or cancelled.
    /// - Parameter isReady: whether there is nothing to wait for. Called with the lock held.
    private func suspend(_ side: Side, unless isReady: () -> Bool) async {
        let id = monitor.withLock {
            waiterCount += 1
            return waiterCount
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = monitor.withLock {
                    // A cancellation from here on finds the continuation.
                    guard !isReady(), !Task.isCancelled else { return false }
                    suspended.append(Waiter(id: id, side: side, continuation: continuation))
                    return true
                }
                if !isWaiting { continuation.resume() }
            }
        } onCancel: {
            monitor.withLock {
                suspended.firstIndex { $0.id == id }.map { suspended.remove(at: $0).continuation }
            }?.resume()
        }
    }
}
