/// Splits an Annex B byte stream (ITU-T H.264 and H.265, Annex B) into its NAL units as bytes arrive.
///
/// Chunks may be of any size, and the result does not depend on where they end. A NAL unit that lies in one
/// chunk together with the next start code is delivered without a copy. Other units are gathered in a
/// buffer that never grows beyond the limit.
///
///     var parser = AnnexBParser(maximumUnitByteCount: 8 << 20)
///     while let chunk = source.read() {
///         try parser.parse(chunk) { result, nalUnit in
///             let unit = try result.get()
///             …
///         }
///     }
///     try parser.finish { result, nalUnit in … }
///
/// Every byte of the stream counts exactly once: in a unit's leading zeros, start code, bytes or trailing
/// zeros, or in an error in place of a unit. Any input is safe.
///
/// Use a parser, which is a value, in one thread at a time.
public struct AnnexBParser: Sendable {
    /// Where a NAL unit lies in the stream.
    public struct Unit: Hashable, Sendable {
        /// Position of the unit's header in the stream.
        public fileprivate(set) var offset = 0
        /// Number of bytes from the header to the last byte that is not zero: no NAL unit ends in a zero byte
        /// (7.4.1).
        public fileprivate(set) var byteCount = 0
        /// Length of the start code before the unit in bytes: 3, or 4 with a `zero_byte`.
        public fileprivate(set) var startCodeLength = 0
        /// Number of `leading_zero_8bits` before the stream's first start code; 0 in all other units.
        public fileprivate(set) var leadingZeroCount = 0
        /// Number of `trailing_zero_8bits` after the unit, without the next start code's `zero_byte`.
        public fileprivate(set) var trailingZeroCount = 0

        /// Position in the stream of the start code's first byte.
        public var startCodeOffset: Int { offset - startCodeLength }
    }

    /// The largest NAL unit that is delivered, in bytes.
    public let maximumUnitByteCount: Int
    /// The number of bytes parsed so far.
    public private(set) var byteCount = 0

    /// The current unit, without its trailing zeros. Before the first start code it stands for the bytes
    /// outside units and has a start code of length 0.
    private var current = Unit()
    /// The number of zeros at the end of the parsed bytes. The next bytes decide whether the zeros belong
    /// to the unit, trail it, or begin a start code.
    private var zeroCount = 0
    /// The first bytes of the current unit from earlier chunks, up to the limit.
    private var gathered: [UInt8] = []

    /// Creates a parser at the start of a stream.
    ///
    /// - Parameter maximumUnitByteCount: the largest accepted unit in bytes, at least 1; also the limit of
    ///   the parser's buffer.
    public init(maximumUnitByteCount: Int) {
        precondition(maximumUnitByteCount > 0, "a NAL unit has at least one byte")
        self.maximumUnitByteCount = maximumUnitByteCount
    }

    /// The memory that the parser holds for gathering units, in bytes.
    var capacity: Int { gathered.capacity }

    /// Parses the next bytes of the stream, and calls `body` for each NAL unit whose end is among them.
    ///
    /// - Parameters:
    ///   - chunk: any number of bytes.
    ///   - isLast: whether the stream ends with this chunk. The parser is then ready for another stream.
    ///   - body: called with each unit's position and its bytes, which are not empty and only valid during
    ///     the call; or with an error, and the first bytes of a unit that is too large.
    /// - Throws: what `body` throws. The parser cannot be used after that.
    public mutating func parse<Failure: Error>(
        _ chunk: RawSpan, isLast: Bool = false,
        _ body: (Result<Unit, AnnexBError>, RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        var position = zeroCount > 0 ? try resolveZeros(with: chunk, body) : 0
        while true {
            let startCode = StartCodeSearch.firstStartCode(in: chunk, from: position)
            let end = chunk.endWithoutZeros(in: position..<startCode)
            let part = chunk.extracting(position..<end)
            zeroCount += startCode - end
            if startCode == chunk.byteCount {
                if isLast { try finishStream(with: part, body) } else { extend(by: part) }
                break
            }
            position = startCode + 3
            try finishUnit(with: part, nextOffset: byteCount + position, body)
        }
        byteCount = isLast ? 0 : byteCount + chunk.byteCount
    }

    /// Provides the bytes read so far of the unit that continues in the next chunk, without undecided zeros
    /// at their end. Before the first start code there are no bytes.
    /// - Parameter body: called with the known part of the unit's position, and its bytes.
    /// - Throws: what `body` throws.
    public func withPendingBytes<Failure: Error>(
        _ body: (Unit, RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        try body(current, gathered.span.bytes)
    }

    /// Ends the stream, and calls `body` for its last NAL unit. The parser is then ready for another stream.
    ///
    /// - Throws: what `body` throws.
    public mutating func finish<Failure: Error>(
        _ body: (Result<Unit, AnnexBError>, RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        try parse(RawSpan(), isLast: true, body)
    }
}

extension AnnexBParser {
    /// Decides whether the zeros at the end of earlier chunks belong to the unit or to a start code.
    ///
    /// - Returns: the position in the chunk of the first unused byte.
    private mutating func resolveZeros<Failure: Error>(
        with chunk: RawSpan, _ body: (Result<Unit, AnnexBError>, RawSpan) throws(Failure) -> Void
    ) throws(Failure) -> Int {
        let position = chunk.zeroPrefixCount
        zeroCount += position
        guard position < chunk.byteCount else { return position }
        if zeroCount >= 2, chunk.unsafeLoad(fromByteOffset: position, as: UInt8.self) == 1 {
            zeroCount -= 2
            try finishUnit(with: RawSpan(), nextOffset: byteCount + position + 1, body)
            return position + 1
        }
        extendByZeros()
        return position
    }

    /// Delivers the current unit, which ends in `part`, and begins the one after the start code found.
    ///
    /// `part` contains the rest of the unit, without the `zeroCount` zeros before the start code.
    private mutating func finishUnit<Failure: Error>(
        with part: RawSpan, nextOffset: Int,
        _ body: (Result<Unit, AnnexBError>, RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        let hasZeroByte = zeroCount > 0
        current.trailingZeroCount = hasZeroByte ? zeroCount - 1 : 0
        var next = Unit()
        next.offset = nextOffset
        next.startCodeLength = hasZeroByte ? 4 : 3
        let isLeading = current.startCodeLength == 0 && current.byteCount + part.byteCount == 0
        if isLeading {
            next.leadingZeroCount = current.trailingZeroCount
        } else {
            try deliver(part, body)
        }
        begin(next)
    }

    /// Delivers the last unit: the stream ends with `part` and `zeroCount` zeros.
    private mutating func finishStream<Failure: Error>(
        with part: RawSpan, _ body: (Result<Unit, AnnexBError>, RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        current.trailingZeroCount = zeroCount
        let isEmpty = current.startCodeLength + current.byteCount + part.byteCount + zeroCount == 0
        if !isEmpty { try deliver(part, body) }
        begin(Unit())
    }

    private mutating func begin(_ unit: Unit) {
        current = unit
        zeroCount = 0
        gathered.removeAll(keepingCapacity: true)
    }

    /// Calls `body` with the current unit, whose last bytes are `part`.
    private mutating func deliver<Failure: Error>(
        _ part: RawSpan, _ body: (Result<Unit, AnnexBError>, RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        if current.byteCount == 0 {
            current.byteCount = part.byteCount
            try lend(part, to: body)
        } else {
            extend(by: part)
            try lend(gathered.span.bytes, to: body)
        }
    }

    /// Calls `body` with the current unit, whose bytes are `bytes`.
    private func lend<Failure: Error>(
        _ bytes: RawSpan, to body: (Result<Unit, AnnexBError>, RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        guard let reason = problem else { return try body(.success(current), bytes) }
        let isUnit = current.startCodeLength > 0
        try body(
            .failure(AnnexBError(reason: reason, unit: current)),
            bytes.extracting(first: isUnit ? maximumUnitByteCount : 0))
    }

    /// Why the current unit, now complete, cannot be delivered; nil if it can.
    private var problem: AnnexBError.Reason? {
        if current.startCodeLength == 0 { return .bytesOutsideUnits }
        if current.byteCount == 0 { return .emptyUnit }
        if current.byteCount > maximumUnitByteCount { return .unitTooLarge(limit: maximumUnitByteCount) }
        return nil
    }

    /// Adds bytes to the current unit, and stores them up to the limit.
    private mutating func extend(by part: RawSpan) {
        current.byteCount += part.byteCount
        let room = reserveRoom(for: part.byteCount)
        part.extracting(first: room).withUnsafeBytes { gathered.append(contentsOf: $0) }
    }

    /// Adds the zeros at the end of the earlier chunks to the current unit.
    private mutating func extendByZeros() {
        current.byteCount += zeroCount
        let room = reserveRoom(for: zeroCount)
        gathered.append(contentsOf: repeatElement(0, count: room))
        zeroCount = 0
    }

    /// Makes room in the buffer, and returns how many of `byteCount` bytes may be stored.
    private mutating func reserveRoom(for byteCount: Int) -> Int {
        let isUnit = current.startCodeLength > 0
        let room = isUnit ? min(byteCount, maximumUnitByteCount - gathered.count) : 0
        let needed = gathered.count + room
        if needed > gathered.capacity {
            gathered.reserveCapacity(min(maximumUnitByteCount, max(needed, 2 * gathered.capacity)))
        }
        return room
    }
}

extension RawSpan {
    /// The number of zeros that the bytes begin with.
    fileprivate var zeroPrefixCount: Int {
        withUnsafeBytes { bytes in bytes.firstIndex { $0 != 0 } ?? bytes.count }
    }

    /// The end of a part of the bytes without the zeros at its own end.
    fileprivate func endWithoutZeros(in range: Range<Int>) -> Int {
        withUnsafeBytes { bytes in
            var end = range.upperBound
            while end > range.lowerBound, bytes[end - 1] == 0 { end -= 1 }
            return end
        }
    }
}

// MARK: - Errors

/// A part of an Annex B byte stream that is not a deliverable NAL unit.
///
/// Parsing can go on: a caller may record the error and continue with the next unit.
public struct AnnexBError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Reason: Hashable, Sendable {
        /// Bytes before the first start code, or a stream without any start code: not Annex B.
        case bytesOutsideUnits
        /// Nothing, or only zeros, between a start code and the next one or the end of the stream.
        case emptyUnit
        /// A unit of more bytes than the parser's limit.
        case unitTooLarge(limit: Int)
    }

    /// The kind of error.
    public let reason: Reason
    /// The position in the stream; bytes outside units have a start code of length 0.
    public let unit: AnnexBParser.Unit

    /// Position in the stream, in bytes.
    public var offset: Int { unit.offset }

    /// One line: the offset and the problem there.
    public var description: String { "offset \(offset): \(problem)" }

    /// The problem in words.
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

// MARK: - Writing

/// Writes NAL units with start codes of 4 bytes (Annex B), and refuses units that could not be read back.
public struct AnnexBWriter: Sendable {
    /// Why an Annex B stream cannot carry a unit. Encoders do not produce such units, but length-prefixed
    /// streams can contain them.
    public enum Unrepresentable: Error, Hashable, Sendable, CustomStringConvertible {
        /// The unit has no bytes.
        case empty
        /// The unit ends in a zero byte, which would be read as `trailing_zero_8bits`.
        case trailingZero
        /// The unit contains `00 00 01` at this position: emulation prevention is missing.
        case startCode(position: Int)

        /// The reason, in one line.
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
    /// - Throws: if the unit could not be read back unchanged. The stream is then unchanged.
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
