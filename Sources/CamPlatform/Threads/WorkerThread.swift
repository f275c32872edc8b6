import Glibc
import Synchronization

/// A thread that runs one function. It must be joined or detached.
public struct WorkerThread: ~Copyable {
    private let thread: pthread_t

    /// Starts the thread, or returns nil if the system allows no more.
    public init?(body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, Self.stackSize)
        let result = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            box.release()
            return nil
        }
        self.thread = thread
    }

    /// Smaller than a huge page: a kernel that always uses huge pages would otherwise back
    /// each stack with one at its first use (Linux, admin-guide/mm/transhuge). Enough for
    /// drivers that compile in our threads.
    private static let stackSize = (2 << 20) - (64 << 10)

    /// Lets the function run to its end without being joined.
    public consuming func detach() { pthread_detach(thread) }

    /// Waits until the function has returned.
    public consuming func join() { pthread_join(thread, nil) }

    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

// MARK: - Several threads

/// Threads that share work on numbered items with the caller.
///
/// The caller processes items, too, so a helper that the system does not schedule delays the caller only by
/// the items that the helper has already taken. `perform` allocates nothing. The helpers end with the crew.
public final class WorkCrew<Context: AnyObject> {
    private let board: Board

    /// What the caller and the helpers share.
    private final class Board: @unchecked Sendable {
        // Safe to share: all mutable state is accessed with the monitor's lock held.
        let monitor = Monitor()
        let work: @Sendable (Context, Range<Int>) -> Void
        var context: Context?
        /// The items that no thread has taken.
        var rest = 0..<0
        var portion = 1
        /// Helpers that are at work.
        var working = 0
        var isDismissed = false

        init(_ work: @escaping @Sendable (Context, Range<Int>) -> Void) { self.work = work }

        /// Takes some items, with the lock held.
        func take() -> (context: Context, items: Range<Int>)? {
            guard let context, !rest.isEmpty else { return nil }
            let items = rest.prefix(portion)
            rest = items.upperBound..<rest.upperBound
            return (context, items)
        }

        /// Runs on a helper's thread until the crew is dismissed.
        func help() {
            while let (context, items) = awaitItems() {
                work(context, items)
                monitor.withLock {
                    working -= 1
                    monitor.signal()
                }
            }
        }

        private func awaitItems() -> (context: Context, items: Range<Int>)? {
            monitor.withLock {
                while !isDismissed {
                    if let taken = take() {
                        working += 1
                        return taken
                    }
                    monitor.wait()
                }
                return nil
            }
        }
    }

    /// Starts the helpers, or fewer if the system allows no more.
    /// - Parameter work: processes a range of items; threads call it concurrently with disjoint ranges.
    public init(helpers count: Int, work: @escaping @Sendable (Context, Range<Int>) -> Void) {
        let board = Board(work)
        self.board = board
        for _ in 0..<count { WorkerThread { board.help() }?.detach() }
    }

    deinit {
        board.monitor.withLock {
            board.isDismissed = true
            board.monitor.signal()
        }
    }

    /// Processes all items; returns when all are done.
    /// - Parameter portion: the number of items that a thread takes at once.
    public func perform(_ items: Range<Int>, in portion: Int, on context: Context) {
        board.monitor.withLock {
            (board.context, board.rest, board.portion) = (context, items, portion)
            board.monitor.signal()
        }
        while let (context, items) = board.monitor.withLock({ board.take() }) { board.work(context, items) }
        board.monitor.withLock {
            while board.working > 0 { board.monitor.wait() }
            board.context = nil
        }
    }
}

// MARK: - Between threads

/// Transfers a value to another thread; the sender must not use it afterwards.
public final class UncheckedTransfer<Value>: @unchecked Sendable {
    // Safe to share: one thread at a time uses it.
    public var value: Value

    /// Wraps a value.
    public init(_ value: Value) { self.value = value }
}

/// Whether the caller has the only reference to an object, and may therefore write to it: all reads through references
/// that other threads have released come first.
///
/// `isKnownUniquelyReferenced` alone does not order them: on arm64 it is a plain load.
package func holdsOnlyReference(to object: inout some AnyObject) -> Bool {
    guard isKnownUniquelyReferenced(&object) else { return false }
    // Pairs with the release of the reference, which swift_release orders after the reads.
    atomicMemoryFence(ordering: .acquiring)
    return true
}

/// The machine's processors.
public enum Processors {
    /// How many are online.
    public static var count: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
