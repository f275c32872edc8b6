/// The configuration that accompanies a stream of length-prefixed NAL units of either codec: the content of
/// an avcC or hvcC box.
public struct DecoderConfigurationRecord: Hashable, Sendable {
    /// The stream's coding standard.
    public let codec: Codec
    /// The number of bytes of each length in the stream.
    public let lengthSize: AVCC.LengthSize
    /// The parameter sets and all other NAL units of the record, without start codes, in the record's
    /// order.
    public let nalUnits: [[UInt8]]

    /// Reads the record of a stream of this codec.
    public init(_ bytes: RawSpan, codec: Codec) throws(ConfigurationRecordError) {
        self.codec = codec
        switch codec {
        case .h264:
            let record = try AVCDecoderConfigurationRecord(bytes)
            lengthSize = record.lengthSize
            nalUnits =
                record.sequenceParameterSets + (record.highProfile?.sequenceParameterSetExtensions ?? [])
                + record.pictureParameterSets
        case .hevc:
            let record = try HEVCDecoderConfigurationRecord(bytes)
            lengthSize = record.lengthSize
            nalUnits = record.arrays.flatMap(\.nalUnits)
        }
    }

    /// Reads a record and detects its codec. Records of both codecs begin alike, but only with the right
    /// codec is the record readable to its end and its parameter sets complete.
    public init?(_ bytes: RawSpan) {
        for codec in Codec.allCases {
            guard let record = try? DecoderConfigurationRecord(bytes, codec: codec), record.hasParameterSets
            else { continue }
            self = record
            return
        }
        return nil
    }

    /// The parameter sets, which a stream without its own needs before the first picture.
    public var parameterSets: [[UInt8]] {
        nalUnits.filter { NALUnitHeader(of: $0.span.bytes, codec: codec)?.isParameterSet == true }
    }

    /// The bytes to insert before a stream that begins with `head`: the parameter sets with length
    /// prefixes, or nothing if the stream begins with a parameter set.
    public func prefix(ofStreamBeginningWith head: RawSpan) -> [UInt8] {
        let hasOwn =
            head.byteCount > lengthSize.rawValue
            && NALUnitHeader(of: head.extracting(droppingFirst: lengthSize.rawValue), codec: codec)?
                .isParameterSet
                == true
        if hasOwn { return [] }
        var stream: [UInt8] = []
        let writer = AVCC.Writer(lengthSize: lengthSize)
        // A set that is too long for the length prefixes cannot be in such a stream.
        for set in parameterSets { try? writer.append(set.span.bytes, to: &stream) }
        return stream
    }

    private var hasParameterSets: Bool {
        var sets = ParameterSets(codec: codec)
        for unit in nalUnits where (try? sets.insert(unit.span.bytes)) == nil { return false }
        return sets.isComplete
    }
}

// MARK: - Reading and writing records

/// Reads a decoder configuration record sequentially, checking each read.
///
/// The reader borrows the bytes and must not outlive the call that provides them, so it is internal.
struct ConfigurationRecordReader {
    /// The largest accepted record in bytes, which limits the memory for a malicious record; real records
    /// have a few hundred bytes.
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
    /// Throws if a record has no room for these NAL units.
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

// MARK: - Errors

/// Why a decoder configuration record cannot be read, or cannot be made from the given parameter sets.
public struct ConfigurationRecordError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Reason: Equatable, Sendable {
        /// The record ends within the element.
        case truncated
        /// A version other than 1.
        case unsupportedVersion(Int)
        /// A `lengthSizeMinusOne` other than 0, 1 and 3.
        case invalidLengthSize(lengthSizeMinusOne: Int)
        /// A NAL unit without bytes.
        case emptyUnit
        /// A record, or a NAL unit in it, of more bytes than allowed.
        case tooLarge(byteCount: Int, limit: Int)
        /// More NAL units of a kind than the record has room for.
        case tooMany(count: Int, limit: Int)
        /// No parameter set of a kind that the record must have.
        case missing
        /// A parameter set that can't be read.
        case malformed(SyntaxError)
        /// The parameter sets disagree on a value that the record has room for once.
        case differing
    }

    /// The element of the record (ISO/IEC 14496-15), or the kind of parameter set.
    public let element: String
    /// The kind of error.
    public let reason: Reason
    /// Where reading stopped, in bytes from the start of the record; `nil` while writing.
    public let offset: Int?

    init(_ element: String, _ reason: Reason, offset: Int? = nil) {
        self.element = element
        self.reason = reason
        self.offset = offset
    }

    /// One line: the place, the element, the problem.
    public var description: String {
        let problem =
            switch reason {
            case .truncated: "the decoder configuration record ends within it"
            case .unsupportedVersion(let version): "version \(version) of the record is not supported, only 1"
            case .invalidLengthSize(let value): "\(value) is not 0, 1 or 3"
            case .emptyUnit: "a NAL unit of 0 bytes"
            case .tooLarge(let byteCount, let limit): "\(byteCount) bytes, more than \(limit)"
            case .tooMany(let count, let limit): "\(count) NAL units, more than \(limit)"
            case .missing: "missing, but the record needs one"
            case .malformed(let error): "\(error)"
            case .differing: "the parameter sets disagree"
            }
        return (offset.map { "offset \($0): " } ?? "") + "\(element): \(problem)"
    }
}
