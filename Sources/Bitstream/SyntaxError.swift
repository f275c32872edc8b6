/// A violation of the syntax of the structure being read.
public struct SyntaxError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Reason: Equatable, Sendable {
        /// The NAL unit ends within the element.
        case truncated
        /// The element has a value that the standard does not allow.
        case outOfRange(value: Int, allowed: ClosedRange<Int>)
        /// An Exp-Golomb code with more than 32 leading zero bits.
        case invalidExpGolombCode
        /// The NAL unit is of another type than expected.
        case unexpectedType(UInt8)
        /// The NAL unit is larger than any valid one of its kind.
        case tooLarge(byteCount: Int, limit: Int)
        /// The cropping rectangle leaves nothing of the picture.
        case croppedAway
    }

    /// The syntax element, under its name in the standard.
    public let element: String
    /// What is wrong with it.
    public let reason: Reason
    /// Where reading stopped: bits from the start of the NAL unit's header, emulation prevention bytes
    /// included.
    public let bitOffset: Int

    /// One line: the element, the problem and its place.
    public var description: String {
        let problem =
            switch reason {
            case .truncated: "the NAL unit ends within it"
            case .outOfRange(let value, let allowed):
                "\(value) is not in \(allowed.lowerBound)...\(allowed.upperBound)"
            case .invalidExpGolombCode: "not an Exp-Golomb code of at most 32 bits"
            case .unexpectedType(let type): "NAL unit type \(type) where another was expected"
            case .tooLarge(let byteCount, let limit): "\(byteCount) bytes, more than \(limit)"
            case .croppedAway: "the cropping rectangle leaves nothing of the picture"
            }
        return "\(element): \(problem) (bit \(bitOffset))"
    }
}
