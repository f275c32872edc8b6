/// Walks the NAL units of one contiguous Annex B buffer (ITU-T H.264 and H.265, Annex B), without allocating.
///
/// The scanner stores only a position; pass the bytes to every call:
///
///     var scanner = NALUnitScanner()
///     while let unit = scanner.next(in: packet) {
///         let bytes = packet.extracting(unit.bytes)
///     }
///
/// Pass the same bytes each time. Other bytes give meaningless units, but never cause an access out of
/// bounds.
public struct NALUnitScanner: Sendable {
    /// Where one NAL unit lies in the scanned bytes.
    public struct Location: Equatable, Sendable {
        /// The NAL unit from its header to its last byte that is not zero; empty between two adjacent start
        /// codes. `trailing_zero_8bits` belong to no unit: no NAL unit ends in a zero byte (7.4.1).
        public var bytes: Range<Int>
        /// Length of the start code before the unit in bytes: 3, or 4 with a `zero_byte`.
        public var startCodeLength: Int

        /// Position of the first byte of the start code.
        public var startCodeOffset: Int { bytes.lowerBound - startCodeLength }
    }

    /// Position of the latest `00 00 01`; `nil` before the first call.
    private var startCode: Int?

    /// Creates a scanner that begins at the first start code and skips any bytes before it.
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

/// The search for `00 00 01`. It reads every byte of every picture, so it compares 64 positions at a time.
enum StartCodeSearch {
    private typealias Block = SIMD16<UInt8>

    /// Position of the first `00 00 01` at or after `offset`, or the number of bytes without a match.
    ///
    /// Precondition: `offset` is in `0...bytes.byteCount`.
    static func firstStartCode(in bytes: RawSpan, from offset: Int) -> Int {
        bytes.withUnsafeBytes { firstStartCode(in: $0, from: offset) }
    }

    /// Position of the first `00 00 01` at or after `offset`, or the number of bytes without a match.
    ///
    /// Precondition: `offset` is in `0...bytes.count`.
    static func firstStartCode(in bytes: UnsafeRawBufferPointer, from offset: Int) -> Int {
        guard let base = bytes.baseAddress else { return bytes.count }
        let count = bytes.count
        var position = offset
        // Testing a group reads two bytes beyond the group.
        while position + groupByteCount + 2 <= count {
            let pointer = base + position
            if holdsZeros(at: pointer), let found = startCode(inGroupAt: pointer) {
                return position + found
            }
            position += groupByteCount
        }
        while position + 3 <= count {
            if isStartCode(base + position) { return position }
            position += 1
        }
        return count
    }

    /// The number of positions in a group, which are tested together.
    private static let groupByteCount = 64

    /// Whether a pair of zeros begins at one of the positions of a group. Reads 65 bytes.
    @inline(__always)
    private static func holdsZeros(at pointer: UnsafeRawPointer) -> Bool {
        let first = minimum(zeroPairs(at: pointer), zeroPairs(at: pointer + 16))
        let second = minimum(zeroPairs(at: pointer + 32), zeroPairs(at: pointer + 48))
        return hasZero(minimum(first, second))
    }

    /// Zero in the lanes where a pair of zeros begins, and nowhere else. Reads 17 bytes.
    @inline(__always)
    private static func zeroPairs(at pointer: UnsafeRawPointer) -> Block {
        pointer.loadUnaligned(as: Block.self) | (pointer + 1).loadUnaligned(as: Block.self)
    }

    @inline(__always)
    private static func minimum(_ a: Block, _ b: Block) -> Block { a.replacing(with: b, where: b .< a) }

    /// The first position of a group, counted from its start, at which a start code begins.
    @inline(__always)
    private static func startCode(inGroupAt pointer: UnsafeRawPointer) -> Int? {
        for block in stride(from: 0, to: groupByteCount, by: Block.scalarCount)
        where holdsStartCode(at: pointer + block) {
            return (block..<block + Block.scalarCount).first { isStartCode(pointer + $0) }
        }
        return nil
    }

    /// Whether one of the 16 positions from `pointer` on holds `00 00 01`. Reads 18 bytes.
    @inline(__always)
    private static func holdsStartCode(at pointer: UnsafeRawPointer) -> Bool {
        let third = (pointer + 2).loadUnaligned(as: Block.self)
        return hasZero(zeroPairs(at: pointer) | (third ^ Block(repeating: 1)))
    }

    /// Whether one of the lanes is zero.
    @inline(__always)
    private static func hasZero(_ block: Block) -> Bool {
        let words = unsafeBitCast(block, to: SIMD2<UInt64>.self)
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
