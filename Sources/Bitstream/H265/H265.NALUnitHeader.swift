extension H265 {
    /// The two bytes at the start of a NAL unit (7.3.1.2).
    public struct NALUnitHeader: Hashable, Sendable {
        /// Bytes in a header.
        public static let byteCount = 2

        /// The two bytes in the stream, the first one high.
        public let bytes: UInt16

        /// Reads a header from its two bytes. Any two bytes are a header, though perhaps an invalid one.
        public init(bytes: UInt16) { self.bytes = bytes }

        /// Reads the header of a NAL unit, given without start code; `nil` if it has fewer than two bytes.
        public init?(of nalUnit: RawSpan) {
            guard nalUnit.byteCount >= Self.byteCount else { return nil }
            bytes = UInt16(bigEndian: nalUnit.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt16.self))
        }

        /// The header with these fields: `nuh_layer_id` 0 to 63, `nuh_temporal_id_plus1` 1 to 7.
        public init(nal_unit_type: NALUnitType, nuh_layer_id: Int = 0, nuh_temporal_id_plus1: Int = 1) {
            precondition((0...63).contains(nuh_layer_id), "nuh_layer_id has six bits")
            precondition((1...7).contains(nuh_temporal_id_plus1), "nuh_temporal_id_plus1 has three bits")
            bytes =
                UInt16(nal_unit_type.rawValue) << 9 | UInt16(nuh_layer_id) << 3
                | UInt16(nuh_temporal_id_plus1)
        }

        /// Must be false; true marks a unit as damaged.
        public var forbidden_zero_bit: Bool { bytes & 0x8000 != 0 }
        /// What the unit holds.
        public var nal_unit_type: NALUnitType { NALUnitType(headerByte: UInt8(bytes >> 8)) }
        /// The layer of a scalable or multiview stream, 0 to 63; 0 is the base layer.
        public var nuh_layer_id: Int { Int(bytes >> 3 & 63) }
        /// The temporal sub-layer plus 1: 1 to 7; 0 is forbidden.
        public var nuh_temporal_id_plus1: Int { Int(bytes & 7) }

        /// Whether `nuh_temporal_id_plus1` has a value that 7.4.2.2 allows for this type: never 0, and 1 in
        /// what every sub-layer needs.
        public var isTemporalIDValid: Bool {
            switch nal_unit_type {
            case .videoParameterSet, .sequenceParameterSet, .endOfSequence, .endOfBitstream:
                nuh_temporal_id_plus1 == 1
            case let type where type.isIntraRandomAccessPoint: nuh_temporal_id_plus1 == 1
            default: nuh_temporal_id_plus1 != 0
            }
        }
    }
}
