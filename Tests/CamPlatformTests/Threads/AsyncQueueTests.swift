import TestSupport
import Testing

@testable import CamPlatform

@Suite("a bounded queue for tasks", .hangGuard)
struct AsyncQueueTests {
    private struct Failure: Error {}

    @Test("elements come in order, then the end; later ones are dropped")
    func order() async throws {
        let queue = AsyncQueue<Int>(limit: 2)
        for number in 0..<4 { queue.append(number) }
        queue.finish()
        queue.finish(throwing: Failure())
        queue.append(9)
        var taken: [Int] = []
        while let number = try await queue.next() { taken.append(number) }
        #expect(taken == [0, 1, 2, 3])
        #expect(try await queue.next() == nil && queue.hasEnded)
    }

    @Test("an offer needs room")
    func offer() async throws {
        let queue = AsyncQueue<Int>(limit: 2)
        #expect([1, 2, 3].map(queue.offer) == [true, true, false])
        #expect(try await queue.next() == 1)
        #expect(queue.offer(4) && !queue.offer(5))
        queue.finish()
        #expect(!queue.offer(6))
    }

    @Test("an error comes after the last element, once")
    func failure() async throws {
        let queue = AsyncQueue<Int>(limit: 2)
        queue.append(1)
        queue.finish(throwing: Failure())
        #expect(try await queue.next() == 1)
        await #expect(throws: Failure.self) { try await queue.next() }
        #expect(try await queue.next() == nil)
    }

    @Test("a reader waits for an element, for the end, and until it is cancelled")
    func reader() async throws {
        let queue = AsyncQueue<Int>(limit: 1)
        let first = Task { try await queue.next() }
        queue.append(7)
        #expect(try await first.value == 7)
        let cancelled = Task { try await queue.next() }
        cancelled.cancel()
        #expect(try await cancelled.value == nil)
        let last = Task { try await queue.next() }
        queue.finish()
        #expect(try await last.value == nil)
    }

    @Test("a writer waits for room, for the end, and until it is cancelled")
    func writer() async throws {
        let queue = AsyncQueue<Int>(limit: 1)
        queue.append(1)
        let first = Task { try await queue.awaitRoom() }
        #expect(try await queue.next() == 1)
        try await first.value
        queue.append(2)
        let cancelled = Task { try await queue.awaitRoom() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let last = Task { try await queue.awaitRoom() }
        queue.finish()
        try await last.value
    }

    @Test("all writers that wait get their turn, and each can be cancelled")
    func writers() async throws {
        let queue = AsyncQueue<Int>(limit: 1)
        queue.append(0)
        let writers = (1...3).map { number in
            Task {
                try await queue.awaitRoom()
                queue.append(number)
            }
        }
        writers[1].cancel()
        await #expect(throws: CancellationError.self) { try await writers[1].value }
        var taken: Set<Int> = []
        for _ in 0..<3 { taken.insert(try #require(try await queue.next())) }
        #expect(taken == [0, 1, 3])
    }

    @Test("a cancelled task takes no element, even if there is one")
    func cancelled() async throws {
        let queue = AsyncQueue<Int>(limit: 1)
        queue.append(1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await queue.next()
        }
        #expect(try await task.value == nil)
        #expect(try await queue.next() == 1)
    }

    @Test("a thread that waits for room and a task pass on everything")
    func thread() async throws {
        let queue = AsyncQueue<Int>(limit: 3)
        let thread = WorkerThread {
            for number in 0..<300 {
                queue.awaitRoom()
                queue.append(number)
            }
            queue.finish()
        }
        thread?.detach()
        var expected = 0
        while let number = try await queue.next() {
            #expect(number == expected)
            expected += 1
        }
        #expect(expected == 300)
    }
}
