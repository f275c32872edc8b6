/// Reads syntax elements from a NAL unit bit by bit, skipping the emulation prevention bytes (7.3.1, 7.4.1).
///
/// Every read is checked against the end of the NAL unit: any input gives values or a `SyntaxError`. The
/// reader borrows the bytes and must not outlive the call that provides them, so it is internal.
struct RBSPReader {
    private let bytes: UnsafeRawBufferPointer
    private let recorder: SyntaxRecorder?
    /// Where `rbsp_trailing_bits()` begins: bits from the start of the NAL unit.
    private let stopBitOffset: Int
    private var end: Int
    private var byteOffset: Int
    private var zeroRun = 0
    private var currentByte: UInt8 = 0
    private var bitsLeft = 0

    /// Reads `bytes`, a NAL unit without start code, from after its header of `headerLength` bytes.
    ///
    /// - Parameter recorder: receives every syntax element; without a recorder nothing is allocated.
    init(_ bytes: UnsafeRawBufferPointer, headerLength: Int, recorder: SyntaxRecorder? = nil) {
        self.bytes = bytes
        self.recorder = recorder
        stopBitOffset = Self.stopBitOffset(of: bytes)
        end = bytes.count
        byteOffset = min(headerLength, bytes.count)
    }

    /// The position of the last one bit, ignoring cabac_zero_words after it; 0 if all bits are zero.
    private static func stopBitOffset(of bytes: UnsafeRawBufferPointer) -> Int {
        var last = bytes.count - 1
        while last >= 0 {
            let byte = bytes[last]
            let isEmulationPrevention =
                byte == 3 && last >= 2 && bytes[last - 1] == 0 && bytes[last - 2] == 0
            if byte != 0, !isEmulationPrevention { return last * 8 + 7 - byte.trailingZeroBitCount }
            last -= 1
        }
        return 0
    }

    /// Ends the NAL unit header, for a reader that starts at the first byte and reads the header as elements:
    /// emulation prevention begins after it (7.3.1, H.265 7.3.1.1).
    mutating func endHeader() { zeroRun = 0 }

    /// Bytes of the NAL unit, emulation prevention bytes included.
    var byteCount: Int { bytes.count }

    private var isAtEmulationPrevention: Bool {
        bitsLeft == 0 && zeroRun >= 2 && byteOffset < end && bytes[byteOffset] == 3
    }

    /// The position of the next bit from the start of the NAL unit, emulation prevention bytes included.
    var bitOffset: Int { (isAtEmulationPrevention ? byteOffset + 1 : byteOffset) * 8 - bitsLeft }

    /// Fetches the next byte of the RBSP; false at the end of the NAL unit.
    private mutating func refill() -> Bool {
        if isAtEmulationPrevention {
            byteOffset += 1
            zeroRun = 0
        }
        guard byteOffset < end else { return false }
        currentByte = bytes[byteOffset]
        byteOffset += 1
        bitsLeft = 8
        zeroRun = currentByte == 0 ? zeroRun + 1 : 0
        return true
    }

    private mutating func nextBit() -> UInt8? {
        if bitsLeft == 0, !refill() { return nil }
        bitsLeft -= 1
        return currentByte >> UInt8(bitsLeft) & 1
    }

    /// The next bits as a number; `nil` if the NAL unit has fewer bits.
    private mutating func nextBits(_ bitCount: Int) -> Int? {
        var (value, missing) = (0, bitCount)
        while missing > 0 {
            if bitsLeft == 0, !refill() { return nil }
            let taken = min(missing, bitsLeft)
            bitsLeft -= taken
            missing -= taken
            value = value << taken | Int(currentByte) >> bitsLeft & (1 << taken - 1)
        }
        return value
    }

    func error(_ element: String, _ reason: SyntaxError.Reason) -> SyntaxError {
        SyntaxError(element: element, reason: reason, bitOffset: bitOffset)
    }

    /// u(1) as a flag. An element's name has up to three subscripts, passed one by one: an array would
    /// allocate for each element, even without a recorder.
    mutating func flag(_ element: String, _ first: Int? = nil, _ second: Int? = nil, _ third: Int? = nil)
        throws(SyntaxError) -> Bool
    {
        let start = bitOffset
        guard let bit = nextBit() else { throw error(element, .truncated) }
        recorder?.record(element, [first, second, third], value: Int(bit), bitCount: 1, bitOffset: start)
        return bit == 1
    }

    /// u(n), with n in 0 to 63, and with a value in `allowed`.
    mutating func u(
        _ bitCount: Int, _ element: String, _ first: Int? = nil, _ second: Int? = nil, _ third: Int? = nil,
        in allowed: ClosedRange<Int> = 0...Int.max
    ) throws(SyntaxError) -> Int {
        assert((0...63).contains(bitCount))
        let start = bitOffset
        guard let value = nextBits(bitCount) else { throw error(element, .truncated) }
        recorder?.record(element, [first, second, third], value: value, bitCount: bitCount, bitOffset: start)
        guard allowed.contains(value) else {
            throw error(element, .outOfRange(value: value, allowed: allowed))
        }
        return value
    }

    /// i(n): two's complement, with n in 1 to 63.
    mutating func i(
        _ bitCount: Int, _ element: String, _ first: Int? = nil, _ second: Int? = nil, _ third: Int? = nil
    ) throws(SyntaxError) -> Int {
        assert((1...63).contains(bitCount))
        let start = bitOffset
        guard let bits = nextBits(bitCount) else { throw error(element, .truncated) }
        let value = bits >> (bitCount - 1) == 1 ? bits - (1 << bitCount) : bits
        recorder?.record(element, [first, second, third], value: value, bitCount: bitCount, bitOffset: start)
        return value
    }

    /// ue(v): an unsigned Exp-Golomb code (9.1), with a value in `allowed`.
    mutating func ue(
        _ element: String, _ first: Int? = nil, _ second: Int? = nil, _ third: Int? = nil,
        in allowed: ClosedRange<Int> = 0...0xFFFF_FFFE
    ) throws(SyntaxError) -> Int {
        let start = bitOffset
        let (value, bitCount) = try expGolomb(element)
        recorder?.record(element, [first, second, third], value: value, bitCount: bitCount, bitOffset: start)
        guard allowed.contains(value) else {
            throw error(element, .outOfRange(value: value, allowed: allowed))
        }
        return value
    }

    /// se(v): a signed Exp-Golomb code (9.1.1), with a value in `allowed`.
    mutating func se(
        _ element: String, _ first: Int? = nil, _ second: Int? = nil, _ third: Int? = nil,
        in allowed: ClosedRange<Int> = -0x7FFF_FFFF...0x7FFF_FFFF
    ) throws(SyntaxError) -> Int {
        let start = bitOffset
        let (code, bitCount) = try expGolomb(element)
        let value = code & 1 == 1 ? code / 2 + 1 : -(code / 2)
        recorder?.record(element, [first, second, third], value: value, bitCount: bitCount, bitOffset: start)
        guard allowed.contains(value) else {
            throw error(element, .outOfRange(value: value, allowed: allowed))
        }
        return value
    }

    private mutating func expGolomb(
        _ element: String
    ) throws(SyntaxError) -> (code: Int, bitCount: Int) {
        var leadingZeroBits = 0
        while true {
            if bitsLeft == 0, !refill() { throw error(element, .truncated) }
            let zeros = min((currentByte << UInt8(8 - bitsLeft)).leadingZeroBitCount, bitsLeft)
            bitsLeft -= zeros
            leadingZeroBits += zeros
            guard leadingZeroBits <= 32 else { throw error(element, .invalidExpGolombCode) }
            if bitsLeft > 0 { break }
        }
        // Consumes the one bit after the zeros.
        bitsLeft -= 1
        guard let suffix = nextBits(leadingZeroBits) else { throw error(element, .truncated) }
        return ((1 << leadingZeroBits) - 1 + suffix, 2 * leadingZeroBits + 1)
    }

    /// Whether the next eight bits are all set; false at the end.
    var isNextByteAllOnes: Bool {
        var rest = self
        return rest.nextBits(8) == 0xFF
    }

    /// Returns a reader of the next `byteCount` bytes of the RBSP, and skips them.
    ///
    /// Precondition: the next bit is the first of a byte.
    mutating func split(byteCount: Int, _ element: String) throws(SyntaxError) -> RBSPReader {
        assert(bitsLeft == 0)
        var part = self
        for _ in 0..<byteCount {
            guard refill() else { throw error(element, .truncated) }
            bitsLeft = 0
        }
        part.end = byteOffset
        return part
    }

    /// The remaining bytes as elements of 8 bits with subscripts from 0. Only the first
    /// `SyntaxRecorder.maximumRun` elements are recorded.
    mutating func remainingBytes(_ element: String) -> [UInt8] {
        var values: [UInt8] = []
        if recorder == nil, bitsLeft == 0 {
            while refill() { values.append(currentByte) }
            bitsLeft = 0
            return values
        }
        while true {
            let start = bitOffset
            guard let value = nextBits(8) else { return values }
            if values.count < SyntaxRecorder.maximumRun {
                recorder?.record(element, [values.count], value: value, bitCount: 8, bitOffset: start)
            }
            values.append(UInt8(value))
        }
    }

    /// more_rbsp_data() (7.2): whether data is left before the trailing bits.
    var hasMoreData: Bool { bitOffset < stopBitOffset }
}

// MARK: - Errors

/// A violation of the syntax of the structure being read.
public struct SyntaxError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Reason: Equatable, Sendable {
        /// The NAL unit ends within the element.
        case truncated
        /// The element has a value that the standard does not allow.
        case outOfRange(value: Int, allowed: ClosedRange<Int>)
        /// An Exp-Golomb code with more than 32 leading zero bits.
        case invalidExpGolombCode
        /// The NAL unit has an unexpected type.
        case unexpectedType(UInt8)
        /// The NAL unit is larger than any valid unit of its kind.
        case tooLarge(byteCount: Int, limit: Int)
        /// The cropping rectangle leaves nothing of the picture.
        case croppedAway
    }

    /// The syntax element's name in the standard.
    public let element: String
    /// The kind of error.
    public let reason: Reason
    /// Where reading stopped: bits from the start of the NAL unit's header, emulation prevention bytes
    /// included.
    public let bitOffset: Int

    /// One line: the element, the problem and its place.
    public var description: String {
        let problem =
            switch reason {
            case .truncated: "the NAL unit ends within it"
            case .outOfRange(let value, let allowed):
                "\(value) is not in \(allowed.lowerBound)...\(allowed.upperBound)"
            case .invalidExpGolombCode: "not an Exp-Golomb code of at most 32 bits"
            case .unexpectedType(let type): "NAL unit type \(type) where another was expected"
            case .tooLarge(let byteCount, let limit): "\(byteCount) bytes, more than \(limit)"
            case .croppedAway: "the cropping rectangle leaves nothing of the picture"
            }
        return "\(element): \(problem) (bit \(bitOffset))"
    }
}
