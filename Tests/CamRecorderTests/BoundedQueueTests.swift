import Synchronization
import Testing
import CamPlatform
import TestSupport

@testable import CamRecorder

@Suite struct BoundedQueueTests {
    /// An element that reports when it is destroyed.
    struct Token: ~Copyable, Sendable {
        let number: Int
        let onEnd: @Sendable (Int) -> Void
        deinit { onEnd(number) }
    }

    @Test("first in, first out, around the ring")
    func order() {
        let queue = BoundedQueue<Int>(capacity: 3)
        var next = 0
        for _ in 0..<10 {
            for number in next..<next + 3 { #expect(queue.push(number)) }
            for number in next..<next + 3 { #expect(queue.pop() == number) }
            next += 3
        }
    }

    @Test("a full queue drops its oldest element for a new one, and says so")
    func dropsOldest() {
        let queue = BoundedQueue<Int>(capacity: 3)
        #expect((0..<5).map { queue.pushDroppingOldest($0) } == [0, 0, 0, 1, 1])
        queue.close()
        #expect([queue.pop(), queue.pop(), queue.pop(), queue.pop()] == [2, 3, 4, nil])
    }

    @Test("waiting for an element ends at its deadline, and prefers an available element")
    func deadline() {
        let queue = BoundedQueue<Int>(capacity: 3)
        func popped() -> String {
            switch queue.pop(until: .now) {
            case .element(let number): "\(number)"
            case .end: "end"
            case .due: "due"
            }
        }
        #expect(popped() == "due")
        #expect(queue.push(1))
        #expect(popped() == "1")
        queue.close()
        #expect(popped() == "end")
    }

    @Test("a closed queue accepts nothing, and still delivers what it has")
    func closed() {
        let queue = BoundedQueue<Int>(capacity: 3)
        #expect(queue.push(1))
        queue.close()
        #expect(!queue.push(2))
        #expect(queue.pushDroppingOldest(3) == 1)
        #expect(queue.pop() == 1)
        #expect(queue.pop() == nil)
        #expect(queue.pop() == nil)
    }

    @Test("every element ends once: taken, displaced, refused or left over")
    func ends() {
        let ended = Ended()
        func token(_ number: Int) -> Token { Token(number: number) { ended.add($0) } }
        do {
            let queue = BoundedQueue<Token>(capacity: 2)
            for number in 0..<4 { _ = queue.pushDroppingOldest(token(number)) }
            #expect(ended.numbers == [0, 1])
            var number: Int?
            if let taken = queue.pop() { number = taken.number }
            #expect(number == 2)
            #expect(ended.numbers == [0, 1, 2])
            queue.close()
            let isAccepted = queue.push(token(4))
            #expect(!isAccepted)
            #expect(ended.numbers == [0, 1, 2, 4])
        }
        #expect(ended.numbers == [0, 1, 2, 4, 3])
    }

    @Test("costly elements wait for room, and one alone may exceed the limit")
    func cost() {
        let queue = BoundedQueue<Int>(capacity: 10, costLimit: 100)
        #expect(queue.push(0, cost: 1000))
        let pushed = Atomic(1)
        let producer = WorkerThread {
            for number in 1..<20 {
                _ = queue.push(number, cost: 60)
                pushed.add(1, ordering: .relaxed)
            }
            queue.close()
        }
        var taken: [Int] = []
        while let number = queue.pop() {
            taken.append(number)
            // With 60 each, a second one exceeds the limit.
            #expect(pushed.load(ordering: .relaxed) <= taken.count + 1)
        }
        #expect(taken == Array(0..<20))
        producer?.join()
    }

    @Test("waits for room while something is taken now and then; a closed queue has some")
    func room() {
        let queue = BoundedQueue<Int>(capacity: 2, costLimit: 100)
        #expect(queue.waitForRoom(cost: 1000, patience: .zero) == .atOnce)
        #expect(queue.push(0, cost: 60))
        #expect(queue.waitForRoom(cost: 40, patience: .zero) == .atOnce)
        #expect(queue.waitForRoom(cost: 41, patience: .zero) == .none)
        let popper = WorkerThread { #expect(queue.pop() == 0) }
        #expect(queue.waitForRoom(cost: 41, patience: nil) != .none)
        popper?.join()
        #expect(queue.isEmpty)
        for number in 0..<2 { #expect(queue.push(number)) }
        #expect(queue.waitForRoom(cost: 0, patience: .zero) == .none)
        queue.close()
        #expect(queue.waitForRoom(cost: 0, patience: .zero) == .atOnce)
    }

    @Test("closing wakes threads that wait for room or for an element")
    func wakes() {
        let full = BoundedQueue<Int>(capacity: 1)
        #expect(full.push(0))
        let empty = BoundedQueue<Int>(capacity: 1)
        let started = (Gate(), Gate())
        let pusher = WorkerThread {
            started.0.open()
            #expect(!full.push(1))
        }
        let popper = WorkerThread {
            started.1.open()
            #expect(empty.pop() == nil)
        }
        started.0.wait()
        started.1.wait()
        full.close()
        empty.close()
        pusher?.join()
        popper?.join()
    }

    @Test("nothing is lost, duplicated or reordered between threads")
    func threads() {
        let queue = BoundedQueue<Int>(capacity: 4)
        let count = 20_000
        let producer = WorkerThread {
            for number in 0..<count { _ = queue.push(number) }
            queue.close()
        }
        var expected = 0
        while let number = queue.pop() {
            if number != expected { Issue.record("\(number) in place of \(expected)") }
            expected += 1
        }
        #expect(expected == count)
        producer?.join()
    }

    @Test("between threads, dropped and taken elements add up, in order")
    func droppingThreads() {
        let queue = BoundedQueue<Int>(capacity: 4)
        let count = 20_000
        let dropped = Ended()
        let producer = WorkerThread {
            var sum = 0
            for number in 0..<count { sum += queue.pushDroppingOldest(number) }
            dropped.add(sum)
            queue.close()
        }
        var taken = 0
        var last = -1
        while let number = queue.pop() {
            if number <= last { Issue.record("\(number) after \(last)") }
            last = number
            taken += 1
        }
        producer?.join()
        #expect(last == count - 1)
        #expect(dropped.numbers == [count - taken])
    }
}

/// Numbers that several threads record.
final class Ended: @unchecked Sendable {
    // Safe to share: the numbers are touched with the lock held.
    private let monitor = Monitor()
    private var list: [Int] = []

    func add(_ number: Int) { monitor.withLock { list.append(number) } }
    var numbers: [Int] { monitor.withLock { list } }
}
