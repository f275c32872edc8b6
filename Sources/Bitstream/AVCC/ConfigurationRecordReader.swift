/// Reads a decoder configuration record sequentially, checking each read.
///
/// The reader borrows the bytes and must not outlive the call that provided them, which is why it is
/// internal.
struct ConfigurationRecordReader {
    /// The largest accepted record, in bytes; real ones have a few hundred. Bounds the memory for a malicious
    /// one.
    static let maximumByteCount = 1 << 20

    private let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) throws(ConfigurationRecordError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw ConfigurationRecordError(
                "record", .tooLarge(byteCount: bytes.count, limit: Self.maximumByteCount), offset: 0)
        }
        self.bytes = bytes
    }

    /// The number of remaining bytes.
    var remainingCount: Int { bytes.count - offset }

    /// The next bytes.
    mutating func bytes(_ count: Int, _ element: String) throws(ConfigurationRecordError) -> [UInt8] {
        guard count <= remainingCount else {
            throw ConfigurationRecordError(element, .truncated, offset: offset)
        }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    /// The next byte.
    mutating func byte(_ element: String) throws(ConfigurationRecordError) -> UInt8 {
        try bytes(1, element)[0]
    }

    /// `configurationVersion`, which must be 1.
    mutating func version() throws(ConfigurationRecordError) {
        let version = try byte("configurationVersion")
        guard version == 1 else {
            throw ConfigurationRecordError(
                "configurationVersion", .unsupportedVersion(Int(version)), offset: offset - 1)
        }
    }

    /// The next NAL units, each preceded by its length in 16 bits.
    mutating func nalUnits(_ count: Int, _ element: String) throws(ConfigurationRecordError) -> [[UInt8]] {
        var units: [[UInt8]] = []
        for _ in 0..<count {
            let length = try bytes(2, element).reduce(0) { $0 << 8 | Int($1) }
            guard length > 0 else { throw ConfigurationRecordError(element, .emptyUnit, offset: offset - 2) }
            units.append(try bytes(length, element))
        }
        return units
    }

    /// All remaining bytes.
    mutating func rest() -> [UInt8] {
        defer { offset = bytes.count }
        return Array(bytes[offset...])
    }
}

extension [UInt8] {
    /// Appends NAL units, each preceded by its length in 16 bits.
    mutating func appendRecordUnits(_ units: [[UInt8]]) {
        for unit in units { self += [UInt8(unit.count >> 8), UInt8(unit.count & 0xFF)] + unit }
    }
}

extension [[UInt8]] {
    /// Makes sure that a record has room for these NAL units.
    func checkRecordLimits(_ element: String, count limit: Int) throws(ConfigurationRecordError) {
        guard count <= limit else {
            throw ConfigurationRecordError(element, .tooMany(count: count, limit: limit))
        }
        for unit in self {
            guard !unit.isEmpty else { throw ConfigurationRecordError(element, .emptyUnit) }
            guard unit.count <= 0xFFFF else {
                throw ConfigurationRecordError(element, .tooLarge(byteCount: unit.count, limit: 0xFFFF))
            }
        }
    }
}
