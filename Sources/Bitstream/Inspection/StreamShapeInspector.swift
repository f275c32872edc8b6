/// Checks a whole stream, NAL unit by NAL unit, against the shape that camrec guarantees.
///
/// Reassembles the bytes of each access unit, including start codes and zeros, and passes the bytes to a
/// `StreamShapeChecker`, whose offsets are then offsets in the stream.
public struct StreamShapeInspector: Sendable {
    /// The largest accepted access unit in bytes; limits the memory.
    public static let accessUnitByteLimit = 256 << 20

    /// The number of finished access units.
    public private(set) var accessUnitCount = 0
    /// The number of IDR pictures among the finished access units.
    public private(set) var idrCount = 0

    private var checker: StreamShapeChecker
    private var accessUnit: [UInt8] = []
    /// The offset of the current access unit in the stream.
    private var offset = 0

    /// Creates an inspector at the start of a stream.
    public init(codec: Codec) { checker = StreamShapeChecker(codec: codec) }

    /// Takes the next piece of the stream.
    ///
    /// - Parameters:
    ///   - beginsAccessUnit: whether the previous access unit ends before this piece.
    /// - Throws: the first violation of the previous access unit, or of this piece if it is not a NAL unit.
    public mutating func add(
        _ piece: NALUnitSource.Piece, _ nalUnit: RawSpan, beginsAccessUnit: Bool
    ) throws(StreamShapeViolation) {
        if beginsAccessUnit { try finish() }
        guard piece.hasStartCode else { throw violation(.startCode, at: piece.place.offset) }
        let byteCount = piece.leadingZeroCount + piece.place.prefixLength + nalUnit.byteCount
        guard accessUnit.count + byteCount + piece.trailingZeroCount <= Self.accessUnitByteLimit else {
            throw violation(.noSlice, at: offset)
        }
        accessUnit += [UInt8](repeating: 0, count: piece.leadingZeroCount + piece.place.prefixLength - 1)
        accessUnit.append(1)
        nalUnit.withUnsafeBytes { accessUnit.append(contentsOf: $0) }
        accessUnit += [UInt8](repeating: 0, count: piece.trailingZeroCount)
    }

    /// Ends the stream.
    public mutating func finish() throws(StreamShapeViolation) {
        guard !accessUnit.isEmpty else { return }
        let isIDR = try Self.check(accessUnit, with: &checker)
        offset += accessUnit.count
        accessUnitCount += 1
        if isIDR { idrCount += 1 }
        accessUnit.removeAll(keepingCapacity: true)
    }

    private static func check(
        _ accessUnit: [UInt8], with checker: inout StreamShapeChecker
    ) throws(StreamShapeViolation) -> Bool {
        try checker.check(accessUnit.span.bytes)
    }

    private func violation(_ rule: StreamShapeViolation.Rule, at offset: Int) -> StreamShapeViolation {
        StreamShapeViolation(rule: rule, accessUnit: accessUnitCount, unit: nil, offset: offset)
    }
}
