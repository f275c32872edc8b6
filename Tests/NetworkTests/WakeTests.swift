import Network
import Testing
import Threading

/// What ends a wait for a descriptor.
@Suite struct WakeTests {
    @Test("an interruption comes before the first ready descriptor, and that before the other")
    func order() throws {
        let (one, other) = (try WakeUp(), try WakeUp())
        let interruption = try #require(Interruption())
        func wake() -> Wake {
            Wake.wait(
                for: one.descriptor, or: other.descriptor, unless: interruption,
                until: MonotonicTime.now() + 1_000_000)
        }
        #expect(wake() == .due)
        other.wake()
        #expect(wake() == .otherReady)
        one.wake()
        #expect(wake() == .ready)
        interruption.raise()
        #expect(wake() == .interrupted)
    }

    @Test("a passed deadline does not hide what is ready")
    func past() throws {
        let one = try WakeUp()
        #expect(Wake.wait(for: one.descriptor, unless: nil, until: 0) == .due)
        one.wake()
        #expect(Wake.wait(for: one.descriptor, unless: nil, until: 0) == .ready)
    }

    @Test("waiting for nothing takes the given time")
    func duration() {
        let start = MonotonicTime.now()
        #expect(Wake.wait(for: -1, unless: nil, until: start + 20_000_000) == .due)
        #expect(MonotonicTime.now() - start >= 20_000_000)
    }
}
