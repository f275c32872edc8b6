/// Reads syntax elements from a NAL unit bit by bit, passing over the emulation prevention bytes (7.3.1,
/// 7.4.1).
///
/// Every read is checked against the end of the NAL unit: any bytes at all give values or a `SyntaxError`.
/// The reader borrows the bytes and must not outlive the call that lent them, which is why it is internal.
struct RBSPReader {
    private let bytes: UnsafeRawBufferPointer
    private var byteOffset: Int
    private var zeroRun = 0
    private var currentByte: UInt8 = 0
    private var bitsLeft = 0

    /// Reads `bytes`, a NAL unit without start code, from behind its header of `headerLength` bytes.
    init(_ bytes: UnsafeRawBufferPointer, headerLength: Int) {
        self.bytes = bytes
        byteOffset = min(headerLength, bytes.count)
    }

    /// The position in bits from the start of the NAL unit, emulation prevention bytes included.
    var bitOffset: Int { byteOffset * 8 - bitsLeft }

    /// Fetches the next byte of the RBSP; false at the end of the NAL unit.
    private mutating func refill() -> Bool {
        guard byteOffset < bytes.count else { return false }
        if zeroRun >= 2, bytes[byteOffset] == 3 {
            byteOffset += 1
            zeroRun = 0
            guard byteOffset < bytes.count else { return false }
        }
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

    private func error(_ element: String, _ reason: SyntaxError.Reason) -> SyntaxError {
        SyntaxError(element: element, reason: reason, bitOffset: bitOffset)
    }

    /// u(1) as a flag.
    mutating func flag(_ element: String) throws(SyntaxError) -> Bool {
        guard let bit = nextBit() else { throw error(element, .truncated) }
        return bit == 1
    }

    /// u(n), with n in 0 to 32.
    mutating func u(_ bitCount: Int, _ element: String) throws(SyntaxError) -> Int {
        assert((0...32).contains(bitCount))
        var value = 0
        for _ in 0..<bitCount {
            guard let bit = nextBit() else { throw error(element, .truncated) }
            value = value << 1 | Int(bit)
        }
        return value
    }

    /// ue(v): an unsigned Exp-Golomb code (9.1), with a value in `allowed`.
    mutating func ue(
        _ element: String, in allowed: ClosedRange<Int> = 0...0xFFFF_FFFE
    ) throws(SyntaxError) -> Int {
        let value = try expGolomb(element)
        guard allowed.contains(value) else {
            throw error(element, .outOfRange(value: value, allowed: allowed))
        }
        return value
    }

    /// se(v): a signed Exp-Golomb code (9.1.1), with a value in `allowed`.
    mutating func se(
        _ element: String, in allowed: ClosedRange<Int> = -0x7FFF_FFFF...0x7FFF_FFFF
    ) throws(SyntaxError) -> Int {
        let code = try expGolomb(element)
        let value = code & 1 == 1 ? code / 2 + 1 : -(code / 2)
        guard allowed.contains(value) else {
            throw error(element, .outOfRange(value: value, allowed: allowed))
        }
        return value
    }

    private mutating func expGolomb(_ element: String) throws(SyntaxError) -> Int {
        var leadingZeroBits = 0
        while try !flag(element) {
            leadingZeroBits += 1
            guard leadingZeroBits <= 32 else { throw error(element, .invalidExpGolombCode) }
        }
        return (1 << leadingZeroBits) - 1 + (try u(leadingZeroBits, element))
    }

    /// more_rbsp_data() (7.2): whether anything but the trailing bits is left.
    var hasMoreData: Bool {
        // The trailing bits are a one and zeros: there is data where a one comes after the next bit.
        var rest = self
        guard rest.nextBit() != nil else { return false }
        while let bit = rest.nextBit() {
            if bit == 1 { return true }
        }
        return false
    }
}
