/// Streams of length-prefixed NAL units, as in MP4 and Matroska: each unit is preceded by its length in
/// bytes, and the parameter sets are stored separately in a decoder configuration record (ISO/IEC 14496-15,
/// 4.3 and 5.3.3; "AVCC" with H.264, "HVCC" with H.265).
public enum AVCC {
    /// The number of bytes of each length, which is big-endian.
    public enum LengthSize: Int, Sendable, CaseIterable {
        /// 1 byte: units of up to 255 bytes.
        case one = 1
        /// 2 bytes: units of up to 65535 bytes.
        case two = 2
        /// 4 bytes: units of up to 4 GiB.
        case four = 4

        /// The size that a record states as `lengthSizeMinusOne`; `nil` for 2, which is forbidden, and
        /// above 3.
        public init?(lengthSizeMinusOne: Int) { self.init(rawValue: lengthSizeMinusOne &+ 1) }

        /// The field of a decoder configuration record: 0, 1 or 3.
        public var lengthSizeMinusOne: Int { rawValue - 1 }

        /// The largest unit in bytes whose length fits.
        public var maximumUnitByteCount: Int { 1 << (8 * rawValue) - 1 }
    }
}

// MARK: - Reading

extension AVCC {
    /// Where a NAL unit lies in a stream of length-prefixed units.
    public struct Unit: Hashable, Sendable {
        /// Position of the unit's header in the stream.
        public fileprivate(set) var offset: Int
        /// Number of bytes, according to the length prefix.
        public fileprivate(set) var byteCount = 0
        /// Number of bytes of that length.
        public let lengthSize: LengthSize

        /// Position in the stream of the first byte of the length.
        public var lengthOffset: Int { offset - lengthSize.rawValue }
    }

    /// Splits a stream of length-prefixed NAL units into the units, as bytes arrive.
    ///
    /// The counterpart of `AnnexBParser`, with the same guarantees: chunks of any size, no copy of a unit
    /// that lies in one chunk, memory within the limit, safe with any input. After a wrong length the
    /// reader cannot find the next unit: it keeps following the lengths.
    public struct Reader: Sendable {
        /// The number of bytes of each length.
        public let lengthSize: LengthSize
        /// The largest NAL unit that is delivered, in bytes.
        public let maximumUnitByteCount: Int
        /// The number of bytes read so far.
        public private(set) var byteCount = 0

        /// The unit being read, or whose length is being read.
        private var current: Unit
        /// The number of bytes read of the length.
        private var lengthByteCount = 0
        /// The number of bytes read of the unit, from earlier chunks.
        private var readCount = 0
        /// The first bytes of the unit from earlier chunks, up to the limit.
        private var gathered: [UInt8] = []

        /// Creates a reader at the start of a stream.
        ///
        /// - Parameters:
        ///   - lengthSize: the number of bytes of each length, from the decoder configuration record.
        ///   - maximumUnitByteCount: the largest accepted unit in bytes, at least 1; also the limit of the
        ///     reader's buffer.
        public init(lengthSize: LengthSize, maximumUnitByteCount: Int) {
            precondition(maximumUnitByteCount > 0, "a NAL unit has at least one byte")
            self.lengthSize = lengthSize
            self.maximumUnitByteCount = maximumUnitByteCount
            current = Unit(offset: lengthSize.rawValue, lengthSize: lengthSize)
        }

        /// The memory that the reader holds for gathering units, in bytes.
        var capacity: Int { gathered.capacity }

        /// Reads the next bytes of the stream, and calls `body` for each NAL unit whose end is among them.
        ///
        /// - Parameters:
        ///   - chunk: any number of bytes.
        ///   - isLast: whether the stream ends with this chunk. The reader is then ready for another stream.
        ///   - body: called with each unit's position and its bytes, which are not empty and only valid
        ///     during the call; or with an error, and the available first bytes of the unit, up to the
        ///     limit.
        /// - Throws: what `body` throws. The reader cannot be used after that.
        public mutating func read<Failure: Error>(
            _ chunk: RawSpan, isLast: Bool = false,
            _ body: (Result<Unit, AVCCError>, RawSpan) throws(Failure) -> Void
        ) throws(Failure) {
            var position = 0
            while true {
                position = readLength(in: chunk, at: position)
                guard lengthByteCount == lengthSize.rawValue else { break }
                let count = min(current.byteCount - readCount, chunk.byteCount - position)
                let part = chunk.extracting(position..<position + count)
                guard readCount + count == current.byteCount else {
                    extend(by: part)
                    break
                }
                try deliver(part, problem, body)
                position += count
                begin(lengthAt: byteCount + position)
            }
            byteCount += chunk.byteCount
            if isLast { try finishStream(body) }
        }

        /// Ends the stream. The reader is then ready for another stream.
        ///
        /// - Parameter body: called where the stream ends within a unit.
        /// - Throws: what `body` throws.
        public mutating func finish<Failure: Error>(
            _ body: (Result<Unit, AVCCError>, RawSpan) throws(Failure) -> Void
        ) throws(Failure) {
            try finishStream(body)
        }
    }
}

extension AVCC.Reader {
    /// Reads the missing bytes of the length that the chunk contains.
    ///
    /// - Returns: the position after these bytes.
    private mutating func readLength(in chunk: RawSpan, at start: Int) -> Int {
        var position = start
        while lengthByteCount < lengthSize.rawValue, position < chunk.byteCount {
            let byte = chunk.unsafeLoad(fromByteOffset: position, as: UInt8.self)
            current.byteCount = current.byteCount << 8 | Int(byte)
            lengthByteCount += 1
            position += 1
        }
        return position
    }

    /// Why the current unit, now complete, cannot be delivered; nil if it can.
    private var problem: AVCCError.Reason? {
        if current.byteCount == 0 { return .emptyUnit }
        if current.byteCount > maximumUnitByteCount { return .unitTooLarge(limit: maximumUnitByteCount) }
        return nil
    }

    private mutating func begin(lengthAt offset: Int) {
        current = AVCC.Unit(offset: offset + lengthSize.rawValue, lengthSize: lengthSize)
        lengthByteCount = 0
        readCount = 0
        gathered.removeAll(keepingCapacity: true)
    }

    /// Calls `body` with the current unit, whose last bytes are `part`.
    private mutating func deliver<Failure: Error>(
        _ part: RawSpan, _ problem: AVCCError.Reason?,
        _ body: (Result<AVCC.Unit, AVCCError>, RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        let result: Result<AVCC.Unit, AVCCError> =
            if let problem { .failure(AVCCError(reason: problem, unit: current)) } else { .success(current) }
        if readCount == 0 {
            try body(result, part.extracting(first: maximumUnitByteCount))
        } else {
            extend(by: part)
            try body(result, gathered.span.bytes)
        }
    }

    /// Reports the unit or length in which the stream ends, if any.
    private mutating func finishStream<Failure: Error>(
        _ body: (Result<AVCC.Unit, AVCCError>, RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        if lengthByteCount == lengthSize.rawValue {
            try deliver(RawSpan(), .truncatedUnit(byteCount: readCount), body)
        } else if lengthByteCount > 0 {
            try deliver(RawSpan(), .truncatedLength(byteCount: lengthByteCount), body)
        }
        begin(lengthAt: 0)
        byteCount = 0
    }

    /// Adds bytes to the current unit, and stores them up to the limit.
    private mutating func extend(by part: RawSpan) {
        readCount += part.byteCount
        let kept = part.extracting(first: maximumUnitByteCount - gathered.count)
        let needed = gathered.count + kept.byteCount
        if needed > gathered.capacity {
            gathered.reserveCapacity(min(maximumUnitByteCount, max(needed, 2 * gathered.capacity)))
        }
        kept.withUnsafeBytes { gathered.append(contentsOf: $0) }
    }
}

/// A part of a stream of length-prefixed NAL units that is not a deliverable unit.
public struct AVCCError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
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

    /// The kind of error.
    public let reason: Reason
    /// The position in the stream, with the size that the unit's length states.
    public let unit: AVCC.Unit

    /// Position of the unit's length in the stream, in bytes.
    public var offset: Int { unit.lengthOffset }

    /// One line: the offset and the problem there.
    public var description: String { "offset \(offset): \(problem)" }

    /// The problem in words.
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

// MARK: - Writing

extension AVCC {
    /// Writes NAL units with length prefixes.
    public struct Writer: Sendable {
        /// The number of bytes of each length.
        public let lengthSize: LengthSize

        /// Why a stream of length-prefixed units can't carry a unit.
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

        /// Creates a writer. The decoder configuration record must state the same length size.
        public init(lengthSize: LengthSize) { self.lengthSize = lengthSize }

        /// Appends the length of a NAL unit and the unit, given without start code.
        ///
        /// - Throws: if the unit is empty, or too long for the length size. The stream is then unchanged.
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
