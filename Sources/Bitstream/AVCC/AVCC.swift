/// Streams of length-prefixed NAL units, as in MP4 and Matroska: each unit is preceded by its length in
/// bytes, and the parameter sets are stored separately in a decoder configuration record (ISO/IEC 14496-15,
/// 4.3 and 5.3.3; "AVCC" with H.264, "HVCC" with H.265).
public enum AVCC {
    /// The number of bytes that each length has, big-endian.
    public enum LengthSize: Int, Sendable, CaseIterable {
        /// 1 byte: units of up to 255 bytes.
        case one = 1
        /// 2 bytes: units of up to 65535 bytes.
        case two = 2
        /// 4 bytes: units of up to 4 GiB.
        case four = 4

        /// The size that a record gives as `lengthSizeMinusOne`; `nil` for 2, which is not allowed, and above 3.
        public init?(lengthSizeMinusOne: Int) { self.init(rawValue: lengthSizeMinusOne &+ 1) }

        /// The field of a decoder configuration record: 0, 1 or 3.
        public var lengthSizeMinusOne: Int { rawValue - 1 }

        /// The largest unit that has a length of this size, in bytes.
        public var maximumUnitByteCount: Int { 1 << (8 * rawValue) - 1 }
    }
}
