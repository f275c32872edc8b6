import CamPlatform

/// The bits of a stream in a window of capture time that slides by access unit.
///
/// Stores the window's access units, and allocates only when the number of access units reaches a new
/// maximum.
public struct SlidingBitRate: Sendable {
    /// The window's length.
    public let window: Duration
    /// Bits of all access units so far.
    public private(set) var totalBits = 0
    /// The most bits in any window so far. Until `finish`, access units that may still be reordered do not
    /// count.
    public private(set) var largestWindow = 0

    /// The access units that a window may still contain, by capture time: a ring that begins at `start`.
    private var units: [Unit]
    private var start = 0
    private var count = 0
    /// The number of settled access units, which form the window that ends at the latest of them, and the
    /// bits of that window.
    private var settledCount = 0
    private var windowBits = 0
    /// The number of latest access units that may still be followed by an earlier capture.
    private let reordering: Int

    private struct Unit {
        var timestamp = Instant.start
        var bits = 0
    }

    /// The largest ring, a minute at 1000 frames a second: limits the memory while the clock stands still.
    private static let mostUnits = 1 << 16

    /// - Parameters: - window: the window's length, at least a nanosecond.
    ///   - reordering: how many access units may precede an earlier capture: consecutive B pictures, 0 …
    ///     16.
    ///   - framesPerSecond: the expected rate, to reserve room for a window's access units.
    public init(window: Duration, reordering: Int = 0, framesPerSecond: Double = 60) {
        self.window = max(.nanoseconds(1), window)
        self.reordering = max(0, reordering)
        let expected = self.window.inSeconds * min(1000, max(1, framesPerSecond)) * 1.25
        units = Array(
            repeating: Unit(), count: min(Self.mostUnits, 64 + self.reordering + Int(min(1e6, expected))))
    }

    /// The most bits a second in any window.
    public var peakBitRate: Double { Double(largestWindow) / window.inSeconds }

    /// Counts an access unit.
    /// - Parameter timestamp: when it was captured.
    public mutating func add(timestamp: Instant, bits: Int) {
        totalBits += bits
        makeRoom()
        // The ring is nearly sorted: only B pictures follow a later capture.
        var position = count
        while position > settledCount, self[position - 1].timestamp > timestamp {
            self[position] = self[position - 1]
            position -= 1
        }
        self[position] = Unit(timestamp: timestamp, bits: bits)
        count += 1
        while count - settledCount > reordering { settle() }
    }

    /// Ends the stream: access units that waited for reordering now count.
    public mutating func finish() {
        while settledCount < count { settle() }
    }

    /// Forgets the windows so far, but not the total: only later windows compete for the largest.
    public mutating func forgetWindows() {
        (start, count, settledCount, windowBits, largestWindow) = (0, 0, 0, 0, 0)
    }

    /// Moves the window to the next access unit, and drops access units that were captured a window's
    /// length or more before it.
    private mutating func settle() {
        let latest = self[settledCount]
        if settledCount > 0, self[settledCount - 1].timestamp - latest.timestamp > window {
            // The clock went back by more than a window: no later window contains the earlier units.
            while settledCount > 0 { dropOldest() }
        }
        settledCount += 1
        windowBits += latest.bits
        while latest.timestamp - self[0].timestamp >= window { dropOldest() }
        largestWindow = max(largestWindow, windowBits)
    }

    private mutating func dropOldest() {
        windowBits -= self[0].bits
        start = (start + 1) % units.count
        count -= 1
        settledCount -= 1
    }

    private mutating func makeRoom() {
        guard count == units.count else { return }
        if count < Self.mostUnits {
            let larger = (0..<count).map { self[$0] }
            units = larger + Array(repeating: Unit(), count: count)
            start = 0
        } else {
            if settledCount == 0 { settle() }
            dropOldest()
        }
    }

    private subscript(index: Int) -> Unit {
        get { units[(start + index) % units.count] }
        set { units[(start + index) % units.count] = newValue }
    }
}

// MARK: - Frame by frame

/// The highest number of bytes in any second of a stream, frame by frame.
struct BitRateMeter: Sendable {
    /// The highest plausible rate; limits the memory.
    private static let highestRate = 1000.0

    private let framesPerSecond: Double
    /// Frames in a second.
    private let window: Int
    /// The sizes of the latest frames in bytes, and the position of the oldest.
    private var frames: [Int] = []
    private var oldest = 0
    private var byteCount = 0
    private var largest: Int?

    /// Creates a meter; nil for rates below 1 and above `highestRate`.
    init?(framesPerSecond: Double) {
        guard framesPerSecond >= 1, framesPerSecond <= Self.highestRate else { return nil }
        self.framesPerSecond = framesPerSecond
        window = Int(framesPerSecond.rounded())
    }

    /// The most bits in a second; `nil` if the stream is shorter than a second.
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
