import Bitstream

/// Decides when receivers that wait for their first IDR get one out of turn.
///
/// Not where the next regular one is a second away at most, and never twice a second, however many receivers
/// come. How far away it is, the latest frames tell: a camera slows down in low light, whatever its nominal rate.
/// A receiver that was too slow waits for a regular one: it costs the others nothing.
struct NewcomerKeyframes: Sendable {
    private static let longestWait: Int64 = 1_000_000_000
    private let interval: KeyframeInterval
    /// From one frame to the next, in nanoseconds.
    private var spacing: Double
    private var latest: (frameNumber: Int, arrival: Int64)?
    private var latestKeyframe: Int64?
    private var lastForced: Int64?

    /// - Parameters:
    ///   - interval: from one regular keyframe to the next.
    ///   - frameDuration: from one frame to the next, in nanoseconds, until that is measured.
    init(interval: KeyframeInterval, frameDuration: Int64) {
        self.interval = interval
        spacing = Double(frameDuration)
    }

    /// A keyframe was handed over.
    /// - Parameter arrival: when, in monotonic nanoseconds.
    mutating func noteKeyframe(at arrival: Int64) { latestKeyframe = arrival }

    /// A frame was handed over.
    /// - Parameter arrival: when, in monotonic nanoseconds.
    mutating func note(_ frameNumber: Int, at arrival: Int64) {
        if let latest, frameNumber > latest.frameNumber {
            let measured = Double(arrival - latest.arrival) / Double(frameNumber - latest.frameNumber)
            // A pause of the recording says nothing of the camera.
            spacing += (min(measured, Double(Self.longestWait)) - spacing) / 4
        }
        latest = (frameNumber, arrival)
    }

    /// Whether to force an IDR, while someone waits for one: not before the first frame, which is an IDR.
    /// - Parameter now: monotonic nanoseconds.
    mutating func forcesOne(at now: Int64) -> Bool {
        guard let latest, timeToRegular(after: latest) > Double(Self.longestWait) else { return false }
        if let lastForced, now - lastForced < Self.longestWait { return false }
        lastForced = now
        return true
    }

    /// Nanoseconds from a frame to the next regular keyframe.
    private func timeToRegular(after latest: (frameNumber: Int, arrival: Int64)) -> Double {
        let inFrames = interval.frames.map { Double($0 - latest.frameNumber % $0) * spacing }
        let inTime = interval.duration.map {
            Double((latestKeyframe ?? latest.arrival) + $0 - latest.arrival)
        }
        return min(inFrames ?? .infinity, inTime ?? .infinity)
    }
}
