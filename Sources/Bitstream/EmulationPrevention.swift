/// Emulation prevention: the bytes 03 that prevent start codes inside NAL units (7.3.1, 7.4.1).
public enum EmulationPrevention {
    /// Whether a NAL unit, given without start code and trailing zeros, contains bytes that emulation
    /// prevention rules out: 00 00 00 or 00 00 02 (7.4.1), such as a block of zeros in place of lost data.
    public static func isBroken(in nalUnit: RawSpan) -> Bool {
        nalUnit.withUnsafeBytes { bytes in
            // Tests odd positions only: one of two adjacent zeros is at an odd position.
            var position = 1
            while position < bytes.count {
                if bytes[position] == 0 {
                    let first = bytes[position - 1] == 0 ? position - 1 : position
                    let isPair = first + 2 < bytes.count && bytes[first + 1] == 0
                    if isPair, bytes[first + 2] == 0 || bytes[first + 2] == 2 { return true }
                }
                position += 2
            }
            return false
        }
    }

    /// The NAL unit without its emulation prevention bytes: each 03 after two zeros.
    public static func unescape(_ nalUnit: RawSpan) -> [UInt8] {
        nalUnit.withUnsafeBytes { bytes in
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count)
            var zeroRun = 0
            for byte in bytes {
                if zeroRun >= 2, byte == 3 {
                    zeroRun = 0
                    continue
                }
                zeroRun = byte == 0 ? zeroRun + 1 : 0
                result.append(byte)
            }
            return result
        }
    }

    /// The NAL unit with a 03 wherever two zeros precede a byte of at most 3, and after a last byte of zero.
    public static func escape(_ nalUnit: RawSpan) -> [UInt8] {
        nalUnit.withUnsafeBytes { bytes in
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count + bytes.count / 64 + 1)
            var zeroRun = 0
            for byte in bytes {
                if zeroRun == 2, byte <= 3 {
                    result.append(3)
                    zeroRun = 0
                }
                zeroRun = byte == 0 ? zeroRun + 1 : 0
                result.append(byte)
            }
            if bytes.last == 0 { result.append(3) }
            return result
        }
    }
}
