/// Something in a stream of length-prefixed NAL units that cannot be delivered as a unit.
public struct AVCCError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Reason: Hashable, Sendable {
        /// A length of 0.
        case emptyUnit
        /// A unit of more bytes than the reader's limit.
        case unitTooLarge(limit: Int)
        /// The stream ends after this many bytes of the unit.
        case truncatedUnit(byteCount: Int)
        /// The stream ends after this many bytes of a length.
        case truncatedLength(byteCount: Int)
    }

    /// What is wrong.
    public let reason: Reason
    /// The position in the stream, with the size that the unit's length states.
    public let unit: AVCC.Unit

    /// Position of the unit's length in the stream, in bytes.
    public var offset: Int { unit.lengthOffset }

    /// One line: the offset and the problem there.
    public var description: String { "offset \(offset): \(problem)" }

    /// What is wrong, in words.
    public var problem: String {
        switch reason {
        case .emptyUnit:
            "a NAL unit of 0 bytes"
        case .unitTooLarge(let limit):
            "a NAL unit of \(unit.byteCount) bytes is larger than the limit of \(limit)"
        case .truncatedUnit(let byteCount):
            "a NAL unit should have \(unit.byteCount) bytes, but the stream ends after \(byteCount)"
        case .truncatedLength(let byteCount):
            "the stream ends after \(byteCount) of the \(unit.lengthSize.rawValue) bytes of a length"
        }
    }
}
