import CamPlatform

/// Whether anybody watches, for a recording whose camera and encoders work only then. Safe in any thread.
package final class CameraDemand: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the lock held.
    private let monitor = Monitor()
    private let linger: Duration
    private static let pictureTime = Duration.seconds(10)
    private var outputs: [Output] = []
    /// When the camera may be turned off without a viewer.
    private var end = Instant.distantPast
    private var isCancelled = false
    private var isOff = false

    /// How many watch an output.
    private struct Output {
        let rendition: Int
        var watchers = 0
        /// When its encoder may rest without a viewer.
        var end = Instant.distantPast
    }

    /// - Parameter linger: how long the camera stays on when the last viewer has left, and an encoder at work when the
    ///   last viewer of its rendition has.
    package init(linger: Duration) { self.linger = linger }

    /// Adds an output, which calls the returned function whenever the number of its viewers changes.
    /// - Parameter rendition: the place of its rendition among the recording's.
    package func makeCounter(of rendition: Int) -> @Sendable (_ watchers: Int) -> Void {
        let output = monitor.withLock {
            outputs.append(Output(rendition: rendition))
            return outputs.count - 1
        }
        return { [self] count in note(count, of: output) }
    }

    private func note(_ count: Int, of output: Int) {
        monitor.withLock {
            let (wasWatched, hadWatchers) = (isWatched, outputs[output].watchers > 0)
            outputs[output].watchers = count
            if hadWatchers, count == 0 { outputs[output].end = .now + linger }
            if wasWatched, !isWatched { end = max(end, .now + linger) }
            monitor.signal()
        }
    }

    private var isWatched: Bool { outputs.contains { $0.watchers > 0 } }

    /// Whether a rendition is watched, or was until a moment ago.
    func isWanted(rendition: Int) -> Bool {
        monitor.withLock {
            outputs.contains { $0.rendition == rendition && ($0.watchers > 0 || .now < $0.end) }
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

    /// Whether the camera is off, because there is no viewer.
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

    private var isWantedNow: Bool { isWatched || .now < end }
}
