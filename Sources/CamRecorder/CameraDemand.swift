import CamPlatform

/// Whether anybody watches, for a recording whose camera is on only then. Safe in any thread.
package final class CameraDemand: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the lock held.
    private let monitor = Monitor()
    private let linger: Duration
    private static let pictureTime = Duration.seconds(10)
    private var watchers = 0
    /// When the camera may be turned off if nobody is watching.
    private var end = Instant.distantPast
    private var isCancelled = false
    private var isOff = false

    /// - Parameter linger: how long the camera stays on when the last viewer has left.
    package init(linger: Duration) { self.linger = linger }

    /// Notes how many watch now.
    package func note(watchers: Int) {
        monitor.withLock {
            if self.watchers > 0, watchers == 0 { end = max(end, .now + linger) }
            self.watchers = watchers
            monitor.signal()
        }
    }

    /// Turns the camera on for a single picture, for as long as a slow one needs at least.
    func wantPicture() {
        monitor.withLock {
            end = max(end, .now + max(linger, Self.pictureTime))
            monitor.signal()
        }
    }

    /// Ends the wait for a viewer for good.
    func cancel() {
        monitor.withLock {
            isCancelled = true
            monitor.signal()
        }
    }

    /// Whether the camera is wanted now.
    var isWanted: Bool { monitor.withLock { isWantedNow } }

    /// Whether the camera is off, because nobody is watching.
    package var isCameraOff: Bool { monitor.withLock { isOff } }

    /// Waits, while the camera is off, until it is wanted.
    /// - Returns: false if the deadline passed or the wait was cancelled first.
    func waitForViewer(until deadline: Instant) -> Bool {
        monitor.withLock {
            isOff = true
            defer { isOff = false }
            while !isCancelled, !isWantedNow, .now < deadline { monitor.wait(until: deadline) }
            return !isCancelled && isWantedNow
        }
    }

    private var isWantedNow: Bool { watchers > 0 || .now < end }
}
