import CamNetworking
import Testing
import CamPlatform

/// What ends a wait for a descriptor.
@Suite struct WaitOrderTests {
    @Test("a cancellation takes precedence over the first ready descriptor, and that over the other")
    func order() throws {
        let (one, other) = (try EventFD(), try EventFD())
        let cancellation = try #require(CancellationFlag())
        func wake() -> WaitResult {
            WaitResult.wait(
                for: one.descriptor, or: other.descriptor, unless: cancellation,
                until: .now + .milliseconds(1))
        }
        #expect(wake() == .due)
        other.wake()
        #expect(wake() == .otherReady)
        one.wake()
        #expect(wake() == .ready)
        cancellation.raise()
        #expect(wake() == .interrupted)
    }

    @Test("a passed deadline does not hide what is ready")
    func past() throws {
        let one = try EventFD()
        #expect(WaitResult.wait(for: one.descriptor, unless: nil, until: .distantPast) == .due)
        one.wake()
        #expect(WaitResult.wait(for: one.descriptor, unless: nil, until: .distantPast) == .ready)
    }

    @Test("waiting for nothing takes the given time")
    func duration() {
        let start = Instant.now
        #expect(WaitResult.wait(for: -1, unless: nil, until: start + .milliseconds(20)) == .due)
        #expect(.now - start >= .milliseconds(20))
    }
}
