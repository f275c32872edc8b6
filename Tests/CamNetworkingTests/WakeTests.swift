import CamNetworking
import Testing
import CamPlatform

/// What ends a wait for a descriptor.
@Suite struct WakeTests {
    @Test("an interruption takes precedence over the first ready descriptor, and that over the other")
    func order() throws {
        let (one, other) = (try WakeUp(), try WakeUp())
        let interruption = try #require(Interruption())
        func wake() -> Wake {
            Wake.wait(
                for: one.descriptor, or: other.descriptor, unless: interruption,
                until: .now + .milliseconds(1))
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
        #expect(Wake.wait(for: one.descriptor, unless: nil, until: .distantPast) == .due)
        one.wake()
        #expect(Wake.wait(for: one.descriptor, unless: nil, until: .distantPast) == .ready)
    }

    @Test("waiting for nothing takes the given time")
    func duration() {
        let start = Instant.now
        #expect(Wake.wait(for: -1, unless: nil, until: start + .milliseconds(20)) == .due)
        #expect(.now - start >= .milliseconds(20))
    }
}
