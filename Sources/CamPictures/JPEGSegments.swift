/// The segments of a JPEG from the beginning to the first scan or the end (ITU-T T.81, B.1.1).
///
/// Ends early if the bytes are not a JPEG or are cut off.
public struct JPEGSegments: Sequence, IteratorProtocol {
    /// A marker with its parameters.
    public struct Segment: Sendable, Hashable {
        /// The marker's second byte.
        public let marker: UInt8
        /// The range from the first byte of the marker to the last one of the parameters.
        public let bytes: Range<Int>
        /// The range of the parameters, without their length.
        public let parameters: Range<Int>

        /// Whether the segment is a frame header (SOF).
        public var isFrameHeader: Bool {
            switch marker {
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF: true
            default: false
            }
        }

        /// Whether the segment is a scan header (SOS), which precedes coded samples.
        public var isScanHeader: Bool { marker == 0xDA }
    }

    private let bytes: UnsafeRawBufferPointer
    private var place: Int

    /// - Parameters:
    ///   - bytes: must stay valid while segments are read.
    ///   - start: the offset of a marker; nil for the beginning.
    public init(_ bytes: UnsafeRawBufferPointer, from start: Int? = nil) {
        self.bytes = bytes
        let isJPEG = bytes.count > 2 && bytes[0] == 0xFF && bytes[1] == 0xD8
        place = start ?? (isJPEG ? 2 : bytes.count)
    }

    /// The next segment; a scan header is the last.
    public mutating func next() -> Segment? {
        while place + 4 <= bytes.count, bytes[place] == 0xFF {
            let marker = bytes[place + 1]
            // Any marker may follow fill bytes.
            if marker == 0xFF {
                place += 1
                continue
            }
            let (start, length) = (place, Int(bytes[place + 2]) << 8 | Int(bytes[place + 3]))
            let end = start + 2 + length
            guard marker != 0xD9, length >= 2, end <= bytes.count else { break }
            place = marker == 0xDA ? bytes.count : end
            return Segment(marker: marker, bytes: start..<end, parameters: start + 4..<end)
        }
        place = bytes.count
        return nil
    }
}

// MARK: Huffman tables

/// The Huffman tables that Motion JPEG relies on and may leave out (ITU-T T.81, K.3.3).
public enum StandardHuffmanTables {
    /// Returns a segment (DHT) with the standard tables that a picture lacks; empty if it has all tables.
    /// - Parameter destinations: the tables of the picture: the class in the upper four bits, the identifier
    ///   in the lower four.
    public static func segment(without destinations: Set<UInt8>) -> [UInt8] {
        let tables = all.filter { !destinations.contains($0.destination) }
        guard !tables.isEmpty else { return [] }
        let content = tables.flatMap { [$0.destination] + $0.bytes }
        let length = content.count + 2
        return [0xFF, 0xC4, UInt8(length >> 8), UInt8(length & 255)] + content
    }

    /// Returns the destinations of the tables in a segment, up to damage.
    public static func destinations(in parameters: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        var (destinations, rest) = ([UInt8](), parameters[...])
        while rest.count > countLength, let destination = rest.first {
            let symbolCount = rest.dropFirst().prefix(countLength).reduce(0) { $0 + Int($1) }
            destinations.append(destination)
            rest = rest.dropFirst(1 + countLength + symbolCount)
        }
        return destinations
    }

    /// The bytes with the number of codes of each length.
    private static let countLength = 16

    /// Each table: the numbers of codes, then their symbols.
    private static let all: [(destination: UInt8, bytes: [UInt8])] = [
        (0x00, [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0] + dcSymbols),
        (0x01, [0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0] + dcSymbols),
        (0x10, bytes(ofHexadecimal: acLuminance)),
        (0x11, bytes(ofHexadecimal: acChrominance)),
    ]

    private static let dcSymbols = Array(UInt8(0)...11)

    private static func bytes(ofHexadecimal text: String) -> [UInt8] {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static let acLuminance =
        "0002010303020403050504040000017d01020300041105122131410613516107"
        + "227114328191a1082342b1c11552d1f02433627282090a161718191a25262728"
        + "292a3435363738393a434445464748494a535455565758595a63646566676869"
        + "6a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7"
        + "a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2"
        + "e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa"

    private static let acChrominance =
        "0002010204040304070504040001027700010203110405213106124151076171"
        + "1322328108144291a1b1c109233352f0156272d10a162434e125f11718191a26"
        + "2728292a35363738393a434445464748494a535455565758595a636465666768"
        + "696a737475767778797a82838485868788898a92939495969798999aa2a3a4a5"
        + "a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9da"
        + "e2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9fa"
}
