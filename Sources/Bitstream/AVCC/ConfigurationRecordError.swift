/// Why a decoder configuration record cannot be read, or cannot be made from the given parameter sets.
public struct ConfigurationRecordError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Reason: Equatable, Sendable {
        /// The record ends within the element.
        case truncated
        /// A version other than 1.
        case unsupportedVersion(Int)
        /// A `lengthSizeMinusOne` other than 0, 1 and 3.
        case invalidLengthSize(lengthSizeMinusOne: Int)
        /// A NAL unit without bytes.
        case emptyUnit
        /// A record, or a NAL unit in it, of more bytes than allowed.
        case tooLarge(byteCount: Int, limit: Int)
        /// More NAL units of a kind than the record has room for.
        case tooMany(count: Int, limit: Int)
        /// No parameter set of a kind that the record must have.
        case missing
        /// A parameter set that can't be read.
        case malformed(SyntaxError)
        /// The parameter sets disagree on a value that the record has room for once.
        case differing
    }

    /// The element of the record (ISO/IEC 14496-15), or the kind of parameter set.
    public let element: String
    /// What is wrong with it.
    public let reason: Reason
    /// Where reading stopped, in bytes from the start of the record; `nil` while writing.
    public let offset: Int?

    init(_ element: String, _ reason: Reason, offset: Int? = nil) {
        self.element = element
        self.reason = reason
        self.offset = offset
    }

    /// One line: the place, the element, the problem.
    public var description: String {
        let problem =
            switch reason {
            case .truncated: "the decoder configuration record ends within it"
            case .unsupportedVersion(let version): "version \(version) of the record is not supported, only 1"
            case .invalidLengthSize(let value): "\(value) is not 0, 1 or 3"
            case .emptyUnit: "a NAL unit of 0 bytes"
            case .tooLarge(let byteCount, let limit): "\(byteCount) bytes, more than \(limit)"
            case .tooMany(let count, let limit): "\(count) NAL units, more than \(limit)"
            case .missing: "missing, but the record needs one"
            case .malformed(let error): "\(error)"
            case .differing: "the parameter sets disagree"
            }
        return (offset.map { "offset \($0): " } ?? "") + "\(element): \(problem)"
    }
}
