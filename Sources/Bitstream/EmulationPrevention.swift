/// Emulation prevention: the bytes 03 that keep start codes from arising inside NAL units (7.3.1, 7.4.1).
public enum EmulationPrevention {
    /// The NAL unit without its emulation prevention bytes: each 03 behind two zeros.
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

    /// The NAL unit with a 03 wherever two zeros precede a byte of at most 3, and behind a last byte of zero.
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
