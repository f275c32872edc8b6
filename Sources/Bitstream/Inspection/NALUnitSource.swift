/// Splits a stream into its NAL units as bytes arrive, for any framing.
public struct NALUnitSource: Sendable {
    /// The delimiters of the units of a stream.
    public enum Framing: Hashable, Sendable {
        /// Start codes (Annex B).
        case annexB
        /// Lengths before the units.
        case lengthPrefixed(AVCC.LengthSize)
    }

    /// A piece of the stream: a NAL unit, or an error in the place of a unit.
    public struct Piece: Sendable {
        /// The place of the start code or length field.
        public let place: NALUnitPlace
        /// Zeros before the start code; only in the stream's first unit.
        public let leadingZeroCount: Int
        /// Zeros after the unit, without the zeros of the next start code.
        public let trailingZeroCount: Int
        /// The problem; `nil` for a NAL unit.
        public let problem: Problem?

        /// Whether the piece has a start code, even without a unit after it.
        var hasStartCode: Bool {
            framing == .annexB && place.prefixLength >= 3 && problem?.isFatal != true
        }
        fileprivate let framing: Framing
    }

    /// An error in the place of a NAL unit.
    public struct Problem: Error, Hashable, Sendable {
        /// The problem in words, without the offset.
        public let message: String
        /// The position in bytes from the stream's beginning.
        public let offset: Int
        /// Whether the rest of the stream is unreliable.
        public let isFatal: Bool
        /// Whether a recording is cut off here: no whole unit follows the start code or length.
        public let isTail: Bool
    }

    private enum Parser: Sendable {
        case annexB(AnnexBParser)
        case lengthPrefixed(AVCC.Reader)
    }

    private var parser: Parser

    /// Creates a source at the start of a stream.
    ///
    /// - Parameters:
    ///   - framing: the delimiters of the units.
    ///   - maximumUnitByteCount: the largest accepted unit in bytes; also the limit of the parser's buffer.
    public init(_ framing: Framing, maximumUnitByteCount: Int) {
        switch framing {
        case .annexB: parser = .annexB(AnnexBParser(maximumUnitByteCount: maximumUnitByteCount))
        case .lengthPrefixed(let size):
            parser = .lengthPrefixed(
                AVCC.Reader(lengthSize: size, maximumUnitByteCount: maximumUnitByteCount))
        }
    }

    /// Parses the next bytes of the stream.
    ///
    /// - Parameters:
    ///   - chunk: any number of bytes.
    ///   - isLast: whether the stream ends with this chunk.
    ///   - body: called for each piece that ends in the chunk, with the unit's bytes, which are valid only
    ///     during the call.
    /// - Throws: what `body` throws. The source cannot be used after that.
    public mutating func parse<Failure: Error>(
        _ chunk: RawSpan, isLast: Bool = false, _ body: (Piece, RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        // Moving the parser out during the call avoids a copy of its buffer.
        switch parser {
        case .annexB(var annexB):
            parser = .annexB(AnnexBParser(maximumUnitByteCount: 1))
            defer { parser = .annexB(annexB) }
            try annexB.parse(chunk, isLast: isLast) { (result, nalUnit) throws(Failure) in
                try body(Piece(result), nalUnit)
            }
        case .lengthPrefixed(var reader):
            parser = .annexB(AnnexBParser(maximumUnitByteCount: 1))
            defer { parser = .lengthPrefixed(reader) }
            try reader.read(chunk, isLast: isLast) { (result, nalUnit) throws(Failure) in
                try body(Piece(result), nalUnit)
            }
        }
    }
}

extension NALUnitSource.Piece {
    fileprivate init(_ result: Result<AnnexBParser.Unit, AnnexBError>) {
        let unit: AnnexBParser.Unit
        switch result {
        case .success(let found): (unit, problem) = (found, nil)
        case .failure(let error): (unit, problem) = (error.unit, NALUnitSource.Problem(error))
        }
        place = NALUnitPlace(offset: unit.startCodeOffset, prefixLength: unit.startCodeLength)
        leadingZeroCount = unit.leadingZeroCount
        trailingZeroCount = unit.trailingZeroCount
        framing = .annexB
    }

    fileprivate init(_ result: Result<AVCC.Unit, AVCCError>) {
        let unit: AVCC.Unit
        switch result {
        case .success(let found): (unit, problem) = (found, nil)
        case .failure(let error): (unit, problem) = (error.unit, NALUnitSource.Problem(error))
        }
        place = NALUnitPlace(offset: unit.lengthOffset, prefixLength: unit.lengthSize.rawValue)
        (leadingZeroCount, trailingZeroCount) = (0, 0)
        framing = .lengthPrefixed(unit.lengthSize)
    }
}

extension NALUnitSource.Problem {
    fileprivate init(_ error: AnnexBError) {
        message = error.problem
        offset = error.offset
        if case .unitTooLarge = error.reason { isFatal = true } else { isFatal = false }
        isTail = error.reason == .emptyUnit
    }

    fileprivate init(_ error: AVCCError) {
        message = error.problem
        offset = error.offset
        isFatal = error.reason != .emptyUnit
        if case .unitTooLarge = error.reason { isTail = false } else { isTail = true }
    }
}

extension NALUnitSource.Problem: CustomStringConvertible {
    /// One line: the offset and the problem there.
    public var description: String { "offset \(offset): \(message)" }
}

/// The place of a NAL unit in a stream, for any framing.
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
