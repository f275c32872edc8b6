/// One syntax element of a NAL unit, as read.
public struct SyntaxElement: Equatable, Sendable {
    /// The element's name in the standard, such as `log2_max_frame_num_minus4`, without subscripts.
    public let name: String
    /// The indices that the standard's syntax table has after the name, outermost first; mostly none.
    public let subscripts: [Int]
    /// The value: flags are 0 or 1, signed elements may be negative.
    public let value: Int
    /// Bits that the element occupies, without emulation prevention bytes.
    public let bitCount: Int
    /// Where the element begins: bits from the NAL unit's first byte, emulation prevention bytes included.
    public let bitOffset: Int
}

extension SyntaxElement: CustomStringConvertible {
    /// The name with its subscripts, as in `offset_for_ref_frame[2]`.
    public var nameWithSubscripts: String { name + subscripts.map { "[\($0)]" }.joined() }

    /// Name, subscripts and value, as in `offset_for_ref_frame[2] = -4`.
    public var description: String { "\(nameWithSubscripts) = \(value)" }
}
