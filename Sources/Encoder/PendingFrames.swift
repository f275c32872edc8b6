import Time

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

    init() { frames.reserveCapacity(Self.limit) }

    mutating func append(_ frame: Frame) {
        if frames.count == Self.limit { frames.removeFirst() }
        frames.append(frame)
    }

    mutating func remove(number: Int) -> Frame? {
        guard let index = frames.firstIndex(where: { $0.number == number }) else { return nil }
        return frames.remove(at: index)
    }
}
