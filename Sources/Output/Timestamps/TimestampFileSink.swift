import Bitstream
import CamPlatform
import CamSound

/// Writes the times of a recording's pictures, one per line: mkvmerge's "timestamp format v2".
///
/// The times are in presentation order and strictly increase, as mkvmerge requires, from 0 for the first
/// picture: milliseconds with six decimals, that is, nanoseconds. A line is written as soon as it is known:
/// at once, if the stream does not reorder.
///
/// Each packet of sound has a line, too, which mkvmerge takes for a comment: `# sound`, and when it begins on the same
/// clock.
public final class TimestampFileSink: AccessUnitSink {
    private let file: OutputFile
    private var clock: PresentationClock
    private var order: PresentationOrder
    private var hasHeader = false
    public let takesSound: Bool
    /// One line; kept to reuse the storage.
    private var line: [UInt8] = []

    /// The file's first line.
    static let header = "# timestamp format v2"

    /// Opens `path` as `FileSink` does.
    /// - Parameters:
    ///   - stream: the stream that the times belong to.
    ///   - interruption: ends a wait for a pipe's reader.
    public init(
        path: String, overwrite: Bool, stream: StreamDescription, interruption: Interruption,
        synchronizer: DiskSynchronizer? = nil
    ) throws(OutputError) {
        file = try OutputFile(
            path: path, overwrite: overwrite, interruption: interruption, synchronizer: synchronizer)
        clock = PresentationClock(ticksPerSecond: 1_000_000_000, frameDuration: stream.frameDuration)
        order = PresentationOrder(reordering: stream.reordering)
        takesSound = stream.sound != nil
        line.reserveCapacity(64)
    }

    public var name: String { file.name }

    /// The identity of the file that it writes.
    public var identity: FileIdentity? { file.identity }

    /// Always false: it contains only times.
    public var takesPictures: Bool { false }

    /// Writes the access unit's capture time.
    public func write(_ unit: AccessUnit) throws(OutputError) {
        let time = clock.time(number: unit.frameNumber, timestamp: unit.timestamp)
        if let next = order.insert(time) { try writeLine(next) }
    }

    /// Writes when the sound was captured.
    public func write(_ sound: SoundPacket) throws(OutputError) {
        guard let time = clock.recordingTime(at: sound.timestamp) else { return }
        try writeLine(time.inNanoseconds, prefix: Self.soundPrefix)
    }

    private static let soundPrefix = "# sound "

    /// Does nothing: times continue, whatever the pictures are.
    public func beginStream(_ description: StreamDescription) {}

    public func finish() throws(OutputError) {
        while let next = order.removeFirst() { try writeLine(next) }
        try file.close()
    }

    private func writeLine(_ nanoseconds: Int64, prefix: String = "") throws(OutputError) {
        line.removeAll(keepingCapacity: true)
        if !hasHeader {
            line += Self.header.utf8
            line.append(UInt8(ascii: "\n"))
            hasHeader = true
        }
        line += prefix.utf8
        line.appendMilliseconds(nanoseconds)
        line.append(UInt8(ascii: "\n"))
        do throws(OutputError) {
            try line.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in try file.write(bytes) }
            file.keep()
        } catch {
            file.abandon()
            throw error
        }
    }
}

extension [UInt8] {
    /// A decimal number of milliseconds with six decimal places.
    fileprivate mutating func appendMilliseconds(_ nanoseconds: Int64) {
        let value = nanoseconds.magnitude
        if nanoseconds < 0 { append(UInt8(ascii: "-")) }
        appendDecimal(value / 1_000_000, minimumDigits: 1)
        append(UInt8(ascii: "."))
        appendDecimal(value % 1_000_000, minimumDigits: 6)
    }

    private mutating func appendDecimal(_ value: UInt64, minimumDigits: Int) {
        let start = count
        var rest = value
        repeat {
            append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0 || count - start < minimumDigits
        self[start...].reverse()
    }
}
