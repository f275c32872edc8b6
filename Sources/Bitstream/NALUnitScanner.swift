/// Walks the NAL units of one contiguous Annex B buffer (ITU-T H.264 and H.265, Annex B), without allocating.
///
/// The scanner is a position and nothing more; the bytes are lent to every call:
///
///     var scanner = NALUnitScanner()
///     while let unit = scanner.next(in: packet) {
///         let bytes = packet.extracting(unit.bytes)
///     }
///
/// Give the same bytes to every call. Other bytes give meaningless units, never an access out of bounds.
public struct NALUnitScanner: Sendable {
    /// Where one NAL unit lies in the scanned bytes.
    public struct Location: Equatable, Sendable {
        /// The NAL unit from its header to its last byte that is not zero; empty when two start codes follow
        /// each other. `trailing_zero_8bits` belong to no unit: no NAL unit ends in a zero byte (7.4.1).
        public var bytes: Range<Int>
        /// Length of the start code ahead of the unit in bytes: 3, or 4 with a `zero_byte`.
        public var startCodeLength: Int

        /// Position of the first byte of the start code.
        public var startCodeOffset: Int { bytes.lowerBound - startCodeLength }
    }

    /// Position of the `00 00 01` found last; `nil` before the first call.
    private var startCode: Int?

    /// Makes a scanner that begins at the first start code, whatever precedes it.
    public init() {}

    /// The next NAL unit, or `nil` after the last one.
    public mutating func next(in bytes: RawSpan) -> Location? {
        bytes.withUnsafeBytes { buffer in
            let current = startCode ?? StartCodeSearch.firstStartCode(in: buffer, from: 0)
            guard current <= buffer.count - 3 else { return nil }
            let start = current + 3
            let following = StartCodeSearch.firstStartCode(in: buffer, from: start)
            startCode = following
            var end = following
            while end > start, buffer[end - 1] == 0 { end -= 1 }
            let hasZeroByte = current > 0 && buffer[current - 1] == 0
            return Location(bytes: start..<end, startCodeLength: hasZeroByte ? 4 : 3)
        }
    }
}

/// The search for `00 00 01`, which every byte of every picture passes through.
enum StartCodeSearch {
    private typealias Block = SIMD16<UInt8>

    /// Position of the first `00 00 01` at or after `offset`; the number of bytes where there is none.
    ///
    /// Precondition: `offset` is in `0...bytes.byteCount`.
    static func firstStartCode(in bytes: RawSpan, from offset: Int) -> Int {
        bytes.withUnsafeBytes { firstStartCode(in: $0, from: offset) }
    }

    /// Position of the first `00 00 01` at or after `offset`; the number of bytes where there is none.
    ///
    /// Precondition: `offset` is in `0...bytes.count`.
    static func firstStartCode(in bytes: UnsafeRawBufferPointer, from offset: Int) -> Int {
        guard let base = bytes.baseAddress else { return bytes.count }
        let count = bytes.count
        var position = offset
        // A block tests the start codes that begin in 32 bytes, reading two bytes further: hence the 34.
        while position + 34 <= count {
            let pointer = base + position
            if mayHoldStartCode(at: pointer) || mayHoldStartCode(at: pointer + 16) {
                for candidate in position..<position + 32 where isStartCode(base + candidate) {
                    return candidate
                }
            }
            position += 32
        }
        while position + 3 <= count {
            if isStartCode(base + position) { return position }
            position += 1
        }
        return count
    }

    /// Whether one of the 16 positions from `pointer` on holds `00 00 01`. Reads 18 bytes.
    @inline(__always)
    private static func mayHoldStartCode(at pointer: UnsafeRawPointer) -> Bool {
        let first = pointer.loadUnaligned(as: Block.self)
        let second = (pointer + 1).loadUnaligned(as: Block.self)
        let third = (pointer + 2).loadUnaligned(as: Block.self)
        // Zero in exactly those lanes where a start code begins.
        let difference = first | second | (third ^ Block(repeating: 1))
        let words = unsafeBitCast(difference, to: SIMD2<UInt64>.self)
        let zeroBytes =
            (words &- SIMD2(repeating: 0x0101_0101_0101_0101)) & ~words
            & SIMD2(repeating: 0x8080_8080_8080_8080)
        return zeroBytes[0] | zeroBytes[1] != 0
    }

    @inline(__always)
    private static func isStartCode(_ pointer: UnsafeRawPointer) -> Bool {
        pointer.load(as: UInt8.self) == 0 && (pointer + 1).load(as: UInt8.self) == 0
            && (pointer + 2).load(as: UInt8.self) == 1
    }
}
