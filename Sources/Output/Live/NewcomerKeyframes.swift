/// Decides when receivers that wait for their first IDR get one out of turn.
///
/// Not where the next regular one is a second away at most, and never twice a second, however many receivers
/// come. A receiver that was too slow waits for a regular one: it costs the others nothing.
struct NewcomerKeyframes: Sendable {
    private static let longestWait: Int64 = 1_000_000_000
    private let interval: Int
    private let frameDuration: Int64
    private var lastForced: Int64?

    /// - Parameters:
    ///   - interval: frames from one regular keyframe to the next.
    ///   - frameDuration: nanoseconds.
    init(interval: Int, frameDuration: Int64) {
        self.interval = max(1, interval)
        self.frameDuration = frameDuration
    }

    /// Whether to force an IDR, while somebody waits for one.
    /// - Parameters:
    ///   - frameNumber: of the last access unit; nil before the first, which is an IDR.
    ///   - now: monotonic nanoseconds.
    mutating func forcesOne(after frameNumber: Int?, at now: Int64) -> Bool {
        guard let frameNumber, frames(after: frameNumber) * Double(frameDuration) > Double(Self.longestWait)
        else { return false }
        if let lastForced, now - lastForced < Self.longestWait { return false }
        lastForced = now
        return true
    }

    /// From a frame to the next regular keyframe.
    private func frames(after frameNumber: Int) -> Double { Double(interval - frameNumber % interval) }
}
