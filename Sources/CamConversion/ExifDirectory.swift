import CamPlatform

/// A directory of Exif's fields (TIFF 6.0, "Image File Directory"), little endian. Fields must be added in the order of
/// their tags.
struct ExifDirectory {
    private var fields: [Field] = []

    private struct Field {
        let tag: UInt16
        let type: UInt16
        let count: Int
        let value: [UInt8]
    }

    /// Values up to this length are in the field itself.
    private static let inlineLength = 4
    private static let longestText = 256

    mutating func add(_ tag: UInt16, text: String) {
        // A field's text ends at its first zero; other control characters cannot be shown.
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

    /// The length in bytes once further fields are added that have their value in themselves.
    func length(withPointers count: Int = 0) -> Int { bytes(at: 0).count + 12 * count }

    /// Returns the directory.
    /// - Parameter place: where it begins in the TIFF file.
    func bytes(at place: Int) -> [UInt8] {
        var entries = Self.littleEndian(UInt16(fields.count))
        var values: [UInt8] = []
        let start = place + 2 + 12 * fields.count + 4
        for field in fields {
            entries += Self.littleEndian(field.tag) + Self.littleEndian(field.type)
            entries += Self.littleEndian(UInt32(field.count))
            if field.value.count > Self.inlineLength {
                entries += Self.littleEndian(UInt32(start + values.count))
                // Values begin at even places.
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
