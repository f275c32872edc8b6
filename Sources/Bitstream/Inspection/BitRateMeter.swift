/// The highest number of bytes in any second of a stream, frame by frame.
struct BitRateMeter: Sendable {
    /// Rates above are not believed; bounds the memory taken.
    private static let highestRate = 1000.0

    /// Half frames in a second: a field lasts one, a frame two.
    private let window: Int
    private var pictures: [(byteCount: Int, duration: Int)] = []
    private var oldest = 0
    private var byteCount = 0
    private var duration = 0
    private var largest: Int?

    /// Makes a meter, unless the rate is one that no second can be counted out by.
    init?(framesPerSecond: Double) {
        guard framesPerSecond >= 1, framesPerSecond <= Self.highestRate else { return nil }
        window = 2 * Int(framesPerSecond.rounded())
    }

    /// The most bytes in a second; `nil` where the stream is shorter than that.
    var peakByteCount: Int? { largest }

    /// The length of that second in frames.
    var frameCount: Int { window / 2 }

    mutating func add(byteCount: Int, isField: Bool) {
        let duration = isField ? 1 : 2
        pictures.append((byteCount, duration))
        self.byteCount += byteCount
        self.duration += duration
        while self.duration > window {
            self.byteCount -= pictures[oldest].byteCount
            self.duration -= pictures[oldest].duration
            oldest += 1
        }
        if self.duration == window { largest = max(largest ?? 0, self.byteCount) }
        if oldest > 4096 {
            pictures.removeFirst(oldest)
            oldest = 0
        }
    }
}
