/// Something in an Annex B byte stream that cannot be delivered as a NAL unit.
///
/// The stream continues after it: a caller may note the error and continue with the next unit.
public struct AnnexBError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Reason: Hashable, Sendable {
        /// Bytes before the first start code, or a stream without any start code: not Annex B.
        case bytesOutsideUnits
        /// Nothing, or only zeros, between a start code and the next one or the end of the stream.
        case emptyUnit
        /// A unit of more bytes than the parser's limit.
        case unitTooLarge(limit: Int)
    }

    /// What is wrong.
    public let reason: Reason
    /// The position in the stream; bytes outside units have a start code of length 0.
    public let unit: AnnexBParser.Unit

    /// Position in the stream, in bytes.
    public var offset: Int { unit.offset }

    /// One line: the offset and the problem there.
    public var description: String { "offset \(offset): \(problem)" }

    /// What is wrong, in words.
    public var problem: String {
        let byteCount = unit.byteCount + unit.trailingZeroCount
        return switch reason {
        case .bytesOutsideUnits: "\(byteCount) bytes before the first start code: not Annex B"
        case .emptyUnit: "a start code without a NAL unit"
        case .unitTooLarge(let limit):
            "a NAL unit of \(unit.byteCount) bytes is larger than the limit of \(limit)"
        }
    }
}
