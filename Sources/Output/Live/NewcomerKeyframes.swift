import Bitstream
import Time

/// Decides when receivers that wait for their first IDR get one out of turn.
///
/// Not where the next regular one is a second away at most, and never twice a second, however many receivers
/// come. How far away it is, the latest frames tell: a camera slows down in low light, whatever its nominal rate.
/// A receiver that was too slow waits for a regular one: it costs the others nothing.
struct NewcomerKeyframes: Sendable {
    private static let longestWait = Duration.seconds(1)
    private let interval: KeyframeInterval
    /// From one frame to the next.
    private var spacing: Duration
    private var latest: (frameNumber: Int, arrival: Instant)?
    private var latestKeyframe: Instant?
    private var lastForced: Instant?

    /// - Parameters:
    ///   - interval: from one regular keyframe to the next.
    ///   - frameDuration: from one frame to the next, until that is measured.
    init(interval: KeyframeInterval, frameDuration: Duration) {
        self.interval = interval
        spacing = frameDuration
    }

    /// A keyframe was handed over.
    mutating func noteKeyframe(at arrival: Instant) { latestKeyframe = arrival }

    /// A frame was handed over.
    mutating func note(_ frameNumber: Int, at arrival: Instant) {
        if let latest, frameNumber > latest.frameNumber {
            let measured = (arrival - latest.arrival) / (frameNumber - latest.frameNumber)
            // A pause of the recording says nothing of the camera.
            spacing += (min(measured, Self.longestWait) - spacing) / 4
        }
        latest = (frameNumber, arrival)
    }

    /// Whether to force an IDR, while somebody waits for one: not before the first frame, which is an IDR.
    mutating func forcesOne(at now: Instant) -> Bool {
        guard let latest, timeToRegular(after: latest) > Self.longestWait else { return false }
        if let lastForced, now - lastForced < Self.longestWait { return false }
        lastForced = now
        return true
    }

    /// From a frame to the next regular keyframe.
    private func timeToRegular(after latest: (frameNumber: Int, arrival: Instant)) -> Duration {
        let inFrames = interval.frames.map { spacing * min($0 - latest.frameNumber % $0, 1 << 40) }
        let inTime = interval.duration.map {
            (latestKeyframe ?? latest.arrival) + $0 - latest.arrival
        }
        return [inFrames, inTime].compactMap { $0 }.min() ?? .nanoseconds(Int64.max)
    }
}
