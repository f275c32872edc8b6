import Bitstream
import CamPlatform

/// Decides when to force an IDR for receivers that wait for their first one.
///
/// None is forced if the next regular one is at most a second away, nor twice within a second, however many
/// receivers join. The latest frames show how far away it is: a camera slows down in low light, whatever its
/// nominal rate. A receiver that was too slow waits for a regular IDR, so that it costs the others nothing.
struct NewcomerKeyframes: Sendable {
    private static let longestWait = Duration.seconds(1)
    private let interval: KeyframeInterval
    /// The time between frames.
    private var spacing: Duration
    private var latest: (frameNumber: Int, arrival: Instant)?
    private var latestKeyframe: Instant?
    private var lastForced: Instant?

    /// - Parameters:
    ///   - interval: the interval between regular keyframes.
    ///   - frameDuration: the time between frames, until it is measured.
    init(interval: KeyframeInterval, frameDuration: Duration) {
        self.interval = interval
        spacing = frameDuration
    }

    /// Notes that a keyframe arrived.
    mutating func noteKeyframe(at arrival: Instant) { latestKeyframe = arrival }

    /// Notes that a frame arrived.
    mutating func note(_ frameNumber: Int, at arrival: Instant) {
        if let latest, frameNumber > latest.frameNumber {
            let measured = (arrival - latest.arrival) / (frameNumber - latest.frameNumber)
            // A pause in the recording says nothing about the camera.
            spacing += (min(measured, Self.longestWait) - spacing) / 4
        }
        latest = (frameNumber, arrival)
    }

    /// Returns whether to force an IDR while a receiver waits for one: not before the first frame, which is an IDR.
    mutating func forcesOne(at now: Instant) -> Bool {
        guard let latest, timeToRegular(after: latest) > Self.longestWait else { return false }
        if let lastForced, now - lastForced < Self.longestWait { return false }
        lastForced = now
        return true
    }

    /// Returns the time from a frame to the next regular keyframe.
    private func timeToRegular(after latest: (frameNumber: Int, arrival: Instant)) -> Duration {
        let inFrames = interval.frames.map { spacing * min($0 - latest.frameNumber % $0, 1 << 40) }
        let inTime = interval.duration.map {
            (latestKeyframe ?? latest.arrival) + $0 - latest.arrival
        }
        return [inFrames, inTime].compactMap { $0 }.min() ?? .nanoseconds(Int64.max)
    }
}
