/// The report on one NAL unit while a stream is inspected.
public struct NALUnitRecord: Sendable {
    /// What a slice header says.
    public struct Slice: Equatable, Sendable {
        /// `I`, `P`, `B`, `SP` or `SI`; `nil` in dependent slice segments, and if the header does not say.
        public let type: String?
        /// What the slice is predicted from.
        public let kind: PictureKind
        /// `frame_num` (H.264); `nil` in H.265, and if the sequence parameter set is unknown.
        public let frame_num: Int?
        /// The low bits of the picture order count; `nil` if the slice has none.
        public let pic_order_cnt_lsb: Int?
    }

    /// Position in the stream of the unit's start code or length field.
    public let offset: Int
    /// Length of the start code (3 or 4) or of the length field (1, 2 or 4) in bytes.
    public let prefixLength: Int
    /// The size of the unit without that.
    public let byteCount: Int
    /// The unit's header; `nil` if the unit is shorter than one.
    public let header: NALUnitHeader?
    /// Whether the unit is the first of an access unit.
    public let beginsAccessUnit: Bool
    /// What the slice header says; `nil` in units of other kinds, and if it cannot be read.
    public let slice: Slice?
    /// Its syntax elements; `nil` unless the inspector was told to collect them.
    public let structure: SyntaxStructure?
    /// What is odd about the unit.
    public let problems: [String]
}
