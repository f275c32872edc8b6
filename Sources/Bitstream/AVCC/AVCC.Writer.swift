extension AVCC {
    /// Writes NAL units with length prefixes.
    public struct Writer: Sendable {
        /// The number of bytes of each length.
        public let lengthSize: LengthSize

        /// A unit that a stream of length-prefixed units can't carry.
        public enum Unrepresentable: Error, Hashable, Sendable, CustomStringConvertible {
            /// The unit has no bytes.
            case empty
            /// The unit, of this many bytes, is too long for the writer's length size.
            case tooLong(byteCount: Int, lengthSize: LengthSize)

            /// One line: the unit and the limit.
            public var description: String {
                switch self {
                case .empty: "a NAL unit without bytes has no place in a stream"
                case .tooLong(let byteCount, let lengthSize):
                    "a NAL unit of \(byteCount) bytes is too long for lengths of \(lengthSize.rawValue * 8) bits, "
                        + "at most \(lengthSize.maximumUnitByteCount) bytes: take longer ones"
                }
            }
        }

        /// Creates a writer with lengths of this size, which the decoder configuration record must state.
        public init(lengthSize: LengthSize) { self.lengthSize = lengthSize }

        /// Appends the length of a NAL unit and the unit, given without start code.
        ///
        /// - Throws: if the unit is empty, or too long for the length size. Nothing is appended then.
        public func append(_ nalUnit: RawSpan, to stream: inout [UInt8]) throws(Unrepresentable) {
            guard !nalUnit.isEmpty else { throw .empty }
            guard nalUnit.byteCount <= lengthSize.maximumUnitByteCount else {
                throw .tooLong(byteCount: nalUnit.byteCount, lengthSize: lengthSize)
            }
            for shift in (0..<lengthSize.rawValue).reversed() {
                stream.append(UInt8(truncatingIfNeeded: nalUnit.byteCount >> (8 * shift)))
            }
            nalUnit.withUnsafeBytes { stream.append(contentsOf: $0) }
        }
    }
}
