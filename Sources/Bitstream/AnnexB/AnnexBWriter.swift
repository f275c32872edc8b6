/// Writes NAL units with start codes of 4 bytes (Annex B), and refuses those that could not be read back.
public struct AnnexBWriter: Sendable {
    /// A unit that an Annex B stream cannot carry. Encoders do not produce such units, but length-prefixed
    /// streams can contain them.
    public enum Unrepresentable: Error, Hashable, Sendable, CustomStringConvertible {
        /// The unit has no bytes.
        case empty
        /// The unit ends in a zero byte, which would be read as `trailing_zero_8bits`.
        case trailingZero
        /// The unit contains `00 00 01` at this position: emulation prevention is missing.
        case startCode(position: Int)

        /// One line: why.
        public var description: String {
            switch self {
            case .empty: "an empty NAL unit has no place in Annex B"
            case .trailingZero: "a NAL unit that ends in a zero byte would lose it in Annex B"
            case .startCode(let position):
                "a NAL unit with a start code at its byte \(position) would become two in Annex B"
            }
        }
    }

    /// Creates a writer.
    public init() {}

    /// Appends a start code and a NAL unit.
    ///
    /// - Throws: if the unit could not be read back unchanged. Nothing is appended then.
    public func append(_ nalUnit: RawSpan, to stream: inout [UInt8]) throws(Unrepresentable) {
        guard !nalUnit.isEmpty else { throw .empty }
        let last = nalUnit.unsafeLoad(fromByteOffset: nalUnit.byteCount - 1, as: UInt8.self)
        guard last != 0 else { throw .trailingZero }
        let position = StartCodeSearch.firstStartCode(in: nalUnit, from: 0)
        guard position == nalUnit.byteCount else { throw .startCode(position: position) }
        stream += [0, 0, 0, 1]
        nalUnit.withUnsafeBytes { stream.append(contentsOf: $0) }
    }
}
