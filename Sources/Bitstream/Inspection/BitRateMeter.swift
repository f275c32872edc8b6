/// The highest number of bytes in any second of a stream, frame by frame.
struct BitRateMeter: Sendable {
    /// Higher rates are not plausible; bounds the memory.
    private static let highestRate = 1000.0

    private let framesPerSecond: Double
    /// Frames in a second.
    private let window: Int
    /// The sizes of the latest frames in bytes, and the position of the oldest.
    private var frames: [Int] = []
    private var oldest = 0
    private var byteCount = 0
    private var largest: Int?

    /// Creates a meter; nil if a second cannot be counted at this rate.
    init?(framesPerSecond: Double) {
        guard framesPerSecond >= 1, framesPerSecond <= Self.highestRate else { return nil }
        self.framesPerSecond = framesPerSecond
        window = Int(framesPerSecond.rounded())
    }

    /// The most bits in a second; `nil` if the stream is shorter than that.
    var peakBitRate: Double? {
        largest.map { Double($0) * 8 * framesPerSecond / Double(window) }
    }

    /// - Parameter isSecondField: whether the picture completes a frame.
    mutating func add(byteCount: Int, isSecondField: Bool) {
        self.byteCount += byteCount
        if isSecondField, !frames.isEmpty {
            frames[(oldest + frames.count - 1) % frames.count] += byteCount
        } else if frames.count < window {
            frames.append(byteCount)
        } else {
            self.byteCount -= frames[oldest]
            frames[oldest] = byteCount
            oldest = (oldest + 1) % window
        }
        if frames.count == window { largest = max(largest ?? 0, self.byteCount) }
    }
}
