import Glibc
import Synchronization

/// Lets another thread detect that a call never returns, and take over.
///
/// A driver's call cannot be cancelled, so its thread is abandoned: whichever thread first increments the
/// call's number, the caller by returning or the watchdog by losing patience, owns everything that the caller
/// had. If an abandoned thread returns after all, it notices before touching anything, and stops there.
public final class CallWatch: Sendable {
    /// Odd during a call.
    private let number = Atomic<Int>(0)
    private let patience = Atomic<Int>(0)

    /// Creates a watch without a call.
    public init() {}

    /// A call in progress.
    public struct Call {
        fileprivate let number: Int
    }

    /// Begins a call; use it right before the call. One thread at a time makes calls.
    /// - Parameter patience: the watchdog ticks that it may take; nil for no limit.
    public func begin(patience: Int?) -> Call {
        self.patience.store(patience ?? .max, ordering: .relaxed)
        return Call(number: number.wrappingAdd(1, ordering: .releasing).newValue)
    }

    /// Ends a call; use it right after the call. Does not return if the thread was abandoned meanwhile.
    public func end(_ call: Call) {
        while !number.compareExchange(
            expected: call.number, desired: call.number + 1, ordering: .acquiringAndReleasing
        ).exchanged {
            pause()
        }
    }

    /// Measures how long calls take. Used by one thread, the watchdog.
    public struct Watchdog {
        private let watch: CallWatch
        private var lastNumber = 0
        private var ticks = 0

        /// Creates a watchdog for a watch's calls.
        public init(_ watch: CallWatch) { self.watch = watch }

        /// Checks the current call; use it about every second. It counts ticks instead of time, because a stopped
        /// process or a suspended machine does no work.
        /// - Returns: true if the calling thread was abandoned just now.
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
