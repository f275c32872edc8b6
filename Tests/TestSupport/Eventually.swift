import Glibc
import CamPlatform

/// Waits for something that another thread does.
/// - Returns: false if it has not happened within five minutes: a test that fails must also end. It is that long because
///   all tests share a few processors.
public func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = Instant.now + .seconds(300)
    while try !condition() {
        if Instant.now >= deadline { return false }
        sched_yield()
    }
    return true
}
