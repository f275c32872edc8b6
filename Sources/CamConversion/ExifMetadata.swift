import CamPictures
import CamPlatform
import Glibc

/// The Exif metadata of an image (CIPA DC-008, "Exif" 2.32).
public struct ExifMetadata: Sendable, Hashable {
    /// When the picture was captured.
    public var time: WallTime
    /// Whether the time is written as UTC instead of local time.
    public var isUTC: Bool
    /// The camera's name.
    public var camera: String
    /// The program that wrote the file.
    public var program: String
    /// The picture's size.
    public var size: PictureSize
    /// The exposure of the picture, as far as known.
    public var exposure: Exposure?

    /// Metadata of one picture.
    public init(
        time: WallTime, isUTC: Bool, camera: String, program: String, size: PictureSize, exposure: Exposure?
    ) {
        (self.time, self.isUTC, self.camera, self.program) = (time, isUTC, camera, program)
        (self.size, self.exposure) = (size, exposure)
    }

    /// The segment of a JPEG (APP1). Its length is below 64 KiB because texts are cut.
    var jpegSegment: [UInt8] {
        let content = Array("Exif".utf8) + [0, 0] + tiff
        let length = content.count + 2
        return [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + content
    }

    /// The metadata as images store it: a TIFF file without pictures.
    var tiff: [UInt8] {
        let header: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0]
        let (date, subseconds, offset) = texts
        var general = ExifDirectory()
        general.add(0x0110, text: camera)
        general.add(0x0131, text: program)
        general.add(0x0132, text: date)
        var capture = ExifDirectory()
        if let time = exposure?.time { capture.add(0x829A, rational: time) }
        if let sensitivity = exposure?.sensitivity {
            capture.add(0x8827, short: sensitivity)
            // The number is an ISO speed.
            capture.add(0x8830, short: 3)
        }
        capture.add(0x9000, undefined: Array("0232".utf8))
        for tag: UInt16 in [0x9003, 0x9004] { capture.add(tag, text: date) }
        for tag: UInt16 in [0x9010, 0x9011, 0x9012] { capture.add(tag, text: offset) }
        for tag: UInt16 in [0x9290, 0x9291, 0x9292] { capture.add(tag, text: subseconds) }
        capture.add(0xA002, long: size.width)
        capture.add(0xA003, long: size.height)
        let length = general.length(withPointers: 1)
        general.add(0x8769, long: header.count + length)
        return header + general.bytes(at: header.count) + capture.bytes(at: header.count + length)
    }

    /// The date with the time, the milliseconds, and the offset from UTC.
    private var texts: (date: String, subseconds: String, offset: String) {
        var (moment, parts) = (time_t(time.seconds), tm())
        if isUTC { gmtime_r(&moment, &parts) } else { localtime_r(&moment, &parts) }
        func two(_ value: some BinaryInteger) -> String { (value < 10 ? "0" : "") + "\(value)" }
        let day = "\(parts.tm_year + 1900):\(two(parts.tm_mon + 1)):\(two(parts.tm_mday))"
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: ":")
        let milliseconds = (time.nanoseconds - Int64(time.seconds) * 1_000_000_000) / 1_000_000
        let digits = "\(1000 + milliseconds)".dropFirst()
        let minutes = abs(parts.tm_gmtoff) / 60
        let offset = (parts.tm_gmtoff < 0 ? "-" : "+") + two(minutes / 60) + ":" + two(minutes % 60)
        return ("\(day) \(clock)", String(digits), offset)
    }
}

// MARK: Directories

/// A little-endian directory of Exif fields (TIFF 6.0, "Image File Directory"). Fields must be added in the
/// order of their tags.
struct ExifDirectory {
    private var fields: [Field] = []

    private struct Field {
        let tag: UInt16
        let type: UInt16
        let count: Int
        let value: [UInt8]
    }

    /// Values up to this length are stored in the field.
    private static let inlineLength = 4
    private static let longestText = 256

    mutating func add(_ tag: UInt16, text: String) {
        // A zero would end the text; other control characters cannot be shown.
        let bytes =
            text.utf8.prefix(Self.longestText).map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: "?") : $0 } + [0]
        add(tag, type: 2, count: bytes.count, bytes)
    }

    mutating func add(_ tag: UInt16, short: Int) {
        add(tag, type: 3, count: 1, Self.littleEndian(UInt16(clamping: short)))
    }

    mutating func add(_ tag: UInt16, long: Int) {
        add(tag, type: 4, count: 1, Self.littleEndian(UInt32(clamping: long)))
    }

    /// Adds a time in seconds, exact to a microsecond.
    mutating func add(_ tag: UInt16, rational time: Duration) {
        let (microseconds, second) = (UInt32(clamping: time.inNanoseconds / 1000), UInt32(1_000_000))
        let divisor = Self.greatestDivisor(microseconds, second)
        add(
            tag, type: 5, count: 1,
            Self.littleEndian(microseconds / divisor) + Self.littleEndian(second / divisor))
    }

    mutating func add(_ tag: UInt16, undefined bytes: [UInt8]) {
        add(tag, type: 7, count: bytes.count, bytes)
    }

    /// Returns the length in bytes after further fields with inline values are added.
    func length(withPointers count: Int = 0) -> Int { bytes(at: 0).count + 12 * count }

    /// Returns the directory.
    /// - Parameter place: the offset of the directory in the TIFF file.
    func bytes(at place: Int) -> [UInt8] {
        var entries = Self.littleEndian(UInt16(fields.count))
        var values: [UInt8] = []
        let start = place + 2 + 12 * fields.count + 4
        for field in fields {
            entries += Self.littleEndian(field.tag) + Self.littleEndian(field.type)
            entries += Self.littleEndian(UInt32(field.count))
            if field.value.count > Self.inlineLength {
                entries += Self.littleEndian(UInt32(start + values.count))
                // Values begin at even offsets.
                values += field.value + (field.value.count % 2 == 0 ? [] : [0])
            } else {
                entries += field.value + Array(repeating: 0, count: Self.inlineLength - field.value.count)
            }
        }
        // No further directory follows.
        return entries + Self.littleEndian(UInt32(0)) + values
    }

    private mutating func add(_ tag: UInt16, type: UInt16, count: Int, _ value: [UInt8]) {
        fields.append(Field(tag: tag, type: type, count: count, value: value))
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    private static func greatestDivisor(_ one: UInt32, _ other: UInt32) -> UInt32 {
        other == 0 ? max(1, one) : greatestDivisor(other, one % other)
    }
}
