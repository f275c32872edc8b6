import Glibc
import CamPlatform

/// Waits for something that another thread does.
/// - Returns: false if it has not happened within half a minute, which is far longer than it takes: a test that fails must
///   also end.
public func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = Instant.now + .seconds(30)
    while try !condition() {
        if Instant.now >= deadline { return false }
        sched_yield()
    }
    return true
}
