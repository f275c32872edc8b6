extension H264 {
    /// The first byte of a NAL unit (7.3.1).
    ///
    /// The further header bytes of types 14, 20 and 21 (Annexes F to I) are not part of it.
    public struct NALUnitHeader: Hashable, Sendable {
        /// The byte in the stream.
        public let byte: UInt8

        /// Reads a header from a NAL unit's first byte. Every byte is a header, though perhaps an invalid
        /// one.
        public init(byte: UInt8) { self.byte = byte }

        /// Reads the header of a NAL unit, given without start code.
        ///
        /// Precondition: the unit is not empty.
        public init(of nalUnit: RawSpan) {
            self.init(byte: nalUnit.unsafeLoad(fromByteOffset: 0, as: UInt8.self))
        }

        /// The header with these fields; `nal_ref_idc` is 0 to 3.
        public init(nal_ref_idc: Int, nal_unit_type: NALUnitType) {
            precondition((0...3).contains(nal_ref_idc), "nal_ref_idc has two bits")
            byte = UInt8(nal_ref_idc) << 5 | nal_unit_type.rawValue
        }

        /// Must be false; true marks a unit as damaged.
        public var forbidden_zero_bit: Bool { byte & 0x80 != 0 }
        /// 0 if the unit is not needed to decode other pictures; 0 to 3.
        public var nal_ref_idc: Int { Int(byte >> 5 & 3) }
        /// What the unit holds.
        public var nal_unit_type: NALUnitType { NALUnitType(headerByte: byte) }

        /// Whether `nal_ref_idc` has a value that 7.4.1 allows for this type.
        public var isReferenceIndicationValid: Bool {
            switch nal_unit_type.referenceRule {
            case .neverZero: nal_ref_idc != 0
            case .alwaysZero: nal_ref_idc == 0
            case .any: true
            }
        }
    }
}
