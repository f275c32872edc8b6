/// Where a NAL unit lies in a stream, for any framing.
public struct NALUnitPlace: Equatable, Sendable {
    /// Position of the first byte of the unit's start code or length field.
    public let offset: Int
    /// Length of the start code or length field in bytes.
    public let prefixLength: Int

    /// Creates a place.
    public init(offset: Int, prefixLength: Int) {
        self.offset = offset
        self.prefixLength = prefixLength
    }
}
