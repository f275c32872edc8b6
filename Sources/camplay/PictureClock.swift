import Bitstream
import Output

/// When a file's pictures are to be shown, counted from the first: by a timestamp file, or at a rate.
///
/// Used by one thread.
final class PictureClock {
    /// The rate asked for; nil for the stream's own.
    let frameRate: NominalFrameRate?
    /// When the picture after the last one would be due, in nanoseconds.
    private(set) var end: Int64 = 0
    private let speed: Double
    private let timestamps: TimestampFile?
    private var count = 0
    private var firstTime: Int64?
    private var elapsed = 0.0

    /// Frames a second of a stream that does not say: what players take raw streams for.
    private static let rateOfSilentStreams = 25.0

    init(_ options: ShowingOptions) throws(PlayError) {
        frameRate = options.fps?.rate
        speed = options.speed
        do throws(InputError) {
            timestamps =
                if let path = options.timestamps { try TimestampFile(path: path) } else { nil }
        } catch { throw .timestamps(error) }
    }

    /// When the next picture is due, in nanoseconds.
    /// - Parameter rate: the rate of the stream, if that is known.
    func next(rate: NominalFrameRate?) throws(PlayError) -> Int64 {
        let duration = 1e9 / (rate?.framesPerSecond ?? Self.rateOfSilentStreams)
        if let timestamps {
            let time = try time(from: timestamps)
            let first = firstTime ?? time
            firstTime = first
            elapsed = Double(time - first)
        } else if count > 0 {
            elapsed += duration
        }
        count += 1
        end = Self.nanoseconds((elapsed + duration) / speed)
        return Self.nanoseconds(elapsed / speed)
    }

    private func time(from file: TimestampFile) throws(PlayError) -> Int64 {
        let time: Int64?
        do throws(InputError) { time = try file.next() } catch { throw .timestamps(error) }
        guard let time else { throw .tooFewTimestamps(file.path, count: count) }
        return time
    }

    /// Bounded: a century is enough for any file.
    private static func nanoseconds(_ value: Double) -> Int64 { Int64(min(value, 3e18)) }
}
