import CamPlatform

/// The facts about each picture that is still in the encoder, kept until its coded form comes out.
struct PendingFrames {
    struct Frame {
        var number: Int
        var timestamp: Instant
        var sequence: UInt32
        /// Whether an IDR was requested. The encoder may produce one unrequested.
        var isIDRWanted: Bool
    }

    /// More than any encoder holds back: 16 B pictures, 250 of lookahead, one per thread. What is older will
    /// never come.
    private static let limit = 512

    private var frames: [Frame] = []
    /// As many times as there are frames: the earliest that none that came out has been given.
    private var times: [Instant] = []

    init() {
        frames.reserveCapacity(Self.limit)
        times.reserveCapacity(Self.limit)
    }

    /// When the frame is played that comes out next, as if frames came out in the order of their capture; nil if none
    /// is in the encoder.
    var nextTime: Instant? { times.first }

    /// - Parameter time: when it is played.
    mutating func append(_ frame: Frame, playedAt time: Instant) {
        if frames.count == Self.limit {
            frames.removeFirst()
            times.removeFirst()
        }
        frames.append(frame)
        times.append(time)
    }

    mutating func remove(number: Int) -> Frame? {
        guard let index = frames.firstIndex(where: { $0.number == number }) else { return nil }
        times.removeFirst()
        return frames.remove(at: index)
    }
}
