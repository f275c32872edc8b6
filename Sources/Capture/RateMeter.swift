import CamPictures
import CamPlatform

/// Measures the rate of pictures, if the driver does not report it.
struct RateMeter {
    /// How long a measurement takes.
    static let span = Duration.seconds(1)

    private var first: (sequence: UInt32, time: Instant)?
    private var last: (sequence: UInt32, time: Instant)?
    private var intervals = 0

    /// Takes a picture into account.
    mutating func add(sequence: UInt32, timestamp: Instant) {
        if first == nil { first = (sequence, timestamp) } else { intervals += 1 }
        last = (sequence, timestamp)
    }

    /// Whether enough is known.
    var isDone: Bool {
        guard let first, let last else { return false }
        return last.time - first.time >= Self.span
    }

    /// Nil if fewer than two pictures came.
    var frameRate: FrameRate? {
        guard let first, let last, intervals > 0, last.time > first.time else { return nil }
        // Lost pictures count too, except where a driver's sequence numbers do not count pictures.
        let numbered = Int(Int32(bitPattern: last.sequence &- first.sequence))
        let frames = (intervals...4 * intervals).contains(numbered) ? numbered : intervals
        return FrameRate(
            measured: Double(frames) / (last.time - first.time).inSeconds, tolerance: 0.005)
    }
}
