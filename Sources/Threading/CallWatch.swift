import Glibc
import Synchronization

/// Lets another thread see that a call never returns, and take over.
///
/// A driver's call can't be cancelled. So the thread is abandoned where it is: the thread that moves the call's number
/// on first, the caller by returning or the watchdog by losing patience, owns everything that the caller had.
/// An abandoned thread that returns after all notices it before it touches anything, and stops there.
public final class CallWatch: Sendable {
    /// Odd while a call is under way.
    private let number = Atomic<Int>(0)
    private let patience = Atomic<Int>(0)

    /// No call is under way.
    public init() {}

    /// A call under way.
    public struct Call {
        fileprivate let number: Int
    }

    /// Call it right before the call. One thread at a time makes calls.
    /// - Parameter patience: how many ticks of the watchdog it may take; nil for any time.
    public func begin(patience: Int?) -> Call {
        self.patience.store(patience ?? .max, ordering: .relaxed)
        return Call(number: number.wrappingAdd(1, ordering: .releasing).newValue)
    }

    /// Call it right after the call. Does not return if the thread was abandoned meanwhile.
    public func end(_ call: Call) {
        while !number.compareExchange(
            expected: call.number, desired: call.number + 1, ordering: .acquiringAndReleasing
        ).exchanged {
            pause()
        }
    }

    /// Counts how long calls take. Used by one thread, the watchdog.
    public struct Watchdog {
        private let watch: CallWatch
        private var lastNumber = 0
        private var ticks = 0

        /// A watchdog of these calls.
        public init(_ watch: CallWatch) { self.watch = watch }

        /// Call it about every second. Ticks are counted, and not time: a process that was stopped, or a
        /// machine that was suspended, has done nothing meanwhile.
        /// - Returns: true if the thread that makes the calls was abandoned just now.
        public mutating func tick() -> Bool {
            let number = watch.number.load(ordering: .acquiring)
            guard !number.isMultiple(of: 2), number == lastNumber else {
                (lastNumber, ticks) = (number, 0)
                return false
            }
            ticks += 1
            guard ticks >= watch.patience.load(ordering: .relaxed) else { return false }
            return watch.number.compareExchange(
                expected: number, desired: number + 1, ordering: .acquiringAndReleasing
            ).exchanged
        }
    }
}
