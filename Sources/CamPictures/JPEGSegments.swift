/// The segments of a JPEG from its beginning to its first scan or its end (ITU-T T.81, B.1.1).
///
/// Ends early where the bytes are no JPEG, or are cut off.
public struct JPEGSegments: Sequence, IteratorProtocol {
    /// A marker, and the parameters that follow it.
    public struct Segment: Sendable, Hashable {
        /// The marker's second byte.
        public let marker: UInt8
        /// From the marker's first byte to the parameters' last.
        public let bytes: Range<Int>
        /// The parameters, without their length.
        public let parameters: Range<Int>

        /// Whether it is a frame header (SOF).
        public var isFrameHeader: Bool {
            switch marker {
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF: true
            default: false
            }
        }

        /// Whether it is a scan header (SOS), which coded samples follow.
        public var isScanHeader: Bool { marker == 0xDA }
    }

    private let bytes: UnsafeRawBufferPointer
    private var place: Int

    /// - Parameters:
    ///   - bytes: must stay valid while segments are read.
    ///   - start: where a marker is; nil for the beginning.
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
