import Bitstream
import CamPlatform
import CamSound
import Glibc

/// Reads a file in mkvmerge's "timestamp format v2": a header, then one picture's time per line, in
/// milliseconds, in presentation order.
///
/// Blank lines and further lines with `#` are skipped. The older header with "timecode" is accepted, too.
/// Memory use is bounded, whatever the file.
public final class TimestampFile {
    private let file: InputFile
    /// The bytes read but not parsed yet; valid until the file is read again.
    private var unread = UnsafeRawBufferPointer(start: nil, count: 0)[...]
    private var line: [UInt8] = []
    private var lineNumber = 0
    private var last: Duration?

    /// Longer than any line with a time.
    private static let maximumLineLength = 256
    private static let headers = [TimestampFileSink.header, "# timecode format v2"]

    /// Opens the file and reads its header.
    public init(path: String) throws(InputError) {
        file = try InputFile(path: path)
        try readHeader()
    }

    /// The file's name.
    public var path: String { file.path }
    /// The file's identity.
    public var identity: FileIdentity? { file.identity }

    /// Returns the next picture's time; nil at the end.
    /// - Throws: if a line is not a time, or is earlier than the last.
    public func next() throws(InputError) -> Duration? {
        while try readLine() {
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            guard let time = Self.time(line) else {
                throw malformed("'\(text)' is not a time in milliseconds")
            }
            if let last, time < last { throw malformed("the time is before the last one") }
            last = time
            return time
        }
        return nil
    }

    /// Restarts at the first time.
    public func rewind() throws(InputError) {
        file.rewind()
        (unread, lineNumber, last) = (unread[..<unread.startIndex], 0, nil)
        try readHeader()
    }

    private func readHeader() throws(InputError) {
        guard try readLine(), Self.headers.contains(where: { $0.utf8.elementsEqual(line) }) else {
            throw malformed("not a timestamp file: it does not begin with '\(TimestampFileSink.header)'")
        }
    }

    /// Reads a line, without the spaces around it.
    /// - Returns: false at the end of the file.
    private func readLine() throws(InputError) -> Bool {
        line.removeAll(keepingCapacity: true)
        lineNumber += 1
        defer { line.trimSpaces() }
        var isAtEnd = true
        while true {
            if unread.isEmpty { unread = try file.read()[...] }
            guard let byte = unread.popFirst() else { return !isAtEnd }
            isAtEnd = false
            if byte == UInt8(ascii: "\n") { return true }
            guard line.count < Self.maximumLineLength else { throw malformed("the line is too long") }
            line.append(byte)
        }
    }

    /// Parses a decimal number of milliseconds; decimals after the sixth are dropped. Up to 31 years.
    private static func time(_ text: [UInt8]) -> Duration? {
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = digits(parts[0]), !parts[0].isEmpty, parts[0].count <= 12 else { return nil }
        guard parts.count == 2 else { return .milliseconds(whole) }
        guard let fraction = digits(parts[1].prefix(6)), digits(parts[1].dropFirst(6).prefix(18)) != nil,
            parts[1].count <= 24
        else { return nil }
        let missing = max(0, 6 - parts[1].count)
        return .milliseconds(whole) + .nanoseconds((0..<missing).reduce(fraction) { value, _ in value * 10 })
    }

    /// The value of at most 18 digits; nil if there is anything else.
    private static func digits(_ text: ArraySlice<UInt8>) -> Int64? {
        var value: Int64 = 0
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), value < 1 << 58 else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return value
    }

    private var text: String { String(decoding: line.prefix(40), as: UTF8.self) }

    private func malformed(_ problem: String) -> InputError {
        InputError(.malformed("line \(lineNumber): \(problem)"), input: path)
    }
}

extension [UInt8] {
    /// Removes spaces, tabs and carriage returns from both ends.
    fileprivate mutating func trimSpaces() {
        let isSpace: (UInt8) -> Bool = { [0x20, 0x09, 0x0d].contains($0) }
        while let byte = last, isSpace(byte) { removeLast() }
        removeSubrange(..<(firstIndex { !isSpace($0) } ?? endIndex))
    }
}

// MARK: - Writing

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
    package static let header = "# timestamp format v2"

    /// Opens `path` as `FileSink` does.
    /// - Parameters:
    ///   - stream: the stream that the times belong to.
    ///   - cancellation: ends a wait for a pipe's reader.
    public init(
        path: String, overwrite: Bool, stream: StreamDescription, cancellation: CancellationFlag,
        synchronizer: DiskSynchronizer? = nil
    ) throws(OutputError) {
        file = try OutputFile(
            path: path, overwrite: overwrite, cancellation: cancellation, synchronizer: synchronizer)
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

    public func discard() { file.discard() }

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
