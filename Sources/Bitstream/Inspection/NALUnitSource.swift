/// Splits a stream into its NAL units as bytes arrive, for any framing.
public struct NALUnitSource: Sendable {
    /// How the units of a stream are delimited.
    public enum Framing: Hashable, Sendable {
        /// Start codes (Annex B).
        case annexB
        /// Lengths before the units.
        case lengthPrefixed(AVCC.LengthSize)
    }

    /// A piece of the stream: a NAL unit, or something in its place.
    public struct Piece: Sendable {
        /// Where its start code or length is.
        public let place: NALUnitPlace
        /// Zeros before the start code; only in the stream's first unit.
        public let leadingZeroCount: Int
        /// Zeros after the unit, without those of the next start code.
        public let trailingZeroCount: Int
        /// What is wrong; `nil` for a NAL unit.
        public let problem: Problem?

        /// Whether there is a start code, even if nothing follows it.
        var hasStartCode: Bool {
            framing == .annexB && place.prefixLength >= 3 && problem?.isFatal != true
        }
        fileprivate let framing: Framing
    }

    /// Something in the place of a NAL unit.
    public struct Problem: Error, Hashable, Sendable {
        /// What is wrong, without the offset.
        public let message: String
        /// Where, in bytes from the stream's beginning.
        public let offset: Int
        /// Whether what follows is unreliable.
        public let isFatal: Bool
        /// Whether it is the end of a cut-off recording: a start code or length with no whole unit after it.
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
    ///   - framing: how the units are delimited.
    ///   - maximumUnitByteCount: the largest unit that is accepted, and the memory that is used for it.
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
    ///   - body: called for each piece that ends in the chunk, with the bytes of the unit, which are only
    ///     valid during the call.
    /// - Throws: what `body` throws; the source is of no further use then.
    public mutating func parse<Failure: Error>(
        _ chunk: RawSpan, isLast: Bool = false, _ body: (Piece, RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        // The parser is moved out during the call, so that its buffer is not copied.
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
