import Bitstream

/// A file with a raw stream of either codec (Annex B), read picture by picture, as often as needed.
///
/// Memory is bounded by the largest picture, whatever the file.
final class RawStream {
    /// A picture with its two fields, where it has such.
    struct Picture {
        let unit: AccessUnit
        let order: PictureOrderCounter.Order
    }

    let codec: Codec
    private let file: InputFile

    /// The largest NAL unit and the largest picture taken, in bytes; level 6.2 has no larger ones.
    static let maximumByteCount = 64 << 20

    /// Opens the file and finds out its codec.
    init(path: String) throws(InputError) {
        file = try InputFile(path: path)
        let head = try file.read()
        switch StreamKind(
            head: head.bytes, isWhole: head.count < StreamKind.decisiveByteCount, framing: .annexB)
        {
        case .stream(let codec, _)?: self.codec = codec
        case .container(let container)?:
            throw InputError(
                .malformed("this is \(container); remux takes a raw .h264 or .h265 file"), input: path)
        case .other(let kind)?:
            throw InputError(
                .malformed("this is \(kind); remux takes a raw .h264 or .h265 file"), input: path)
        case .empty?: throw InputError(.malformed("the file is empty"), input: path)
        default:
            throw InputError(.malformed("this is no raw H.264 or H.265 stream (Annex B)"), input: path)
        }
    }

    /// The file's name.
    var path: String { file.path }
    /// Which file it is.
    var identity: FileIdentity? { file.identity }

    /// Reads the file from its beginning.
    /// - Parameters:
    ///   - isOver: asked now and then; true ends the reading.
    ///   - body: called for each picture in decoding order; nil stands for a picture ahead of the first IDR,
    ///     which nobody can decode.
    func forEachPicture(
        isOver: () -> Bool = { false }, _ body: (Picture?) throws(RemuxError) -> Void
    ) throws(RemuxError) {
        var parser = AnnexBParser(maximumUnitByteCount: Self.maximumByteCount)
        var assembler = PictureAssembler(codec: codec, path: path)
        do throws(InputError) { try file.rewind() } catch { throw .input(error) }
        var isAtEnd = false
        while !isAtEnd, !isOver() {
            let chunk: UnsafeRawBufferPointer
            do throws(InputError) { chunk = try file.read() } catch { throw .input(error) }
            isAtEnd = chunk.isEmpty
            try parser.parse(chunk.bytes, isLast: isAtEnd) { (result, nalUnit) throws(RemuxError) in
                switch result {
                case .success(let unit): try assembler.add(nalUnit, at: unit.offset, body)
                // A recording that was cut may end in a start code.
                case .failure(let error) where error.reason == .emptyUnit: break
                case .failure(let error):
                    throw .input(InputError(.malformed("\(error)"), input: path))
                }
            }
        }
        if isAtEnd { try assembler.finish(body) }
    }
}

/// Gathers NAL units to pictures.
private struct PictureAssembler {
    typealias Body = (RawStream.Picture?) throws(RemuxError) -> Void

    private let path: String
    private var detector: AccessUnitDetector
    private var counter = PictureOrderCounter()
    private var shaper: StreamShaper
    /// The access unit at hand.
    private var current = Gathered()
    /// The one before, until it is known that the one at hand is not its second field.
    private var complete = Gathered()
    /// Units whose access unit is not known yet.
    private var undecided = Gathered()
    private var number = 0

    /// NAL units as Annex B, with what their first slice says.
    private final class Gathered {
        var bytes: [UInt8] = []
        var offset = 0
        var order: PictureOrderCounter.Order?
        var isSecondField = false

        func append(_ nalUnit: RawSpan, at offset: Int) {
            if bytes.isEmpty { self.offset = offset }
            bytes += [0, 0, 0, 1]
            nalUnit.withUnsafeBytes { bytes += $0 }
        }

        func append(_ other: Gathered) {
            if bytes.isEmpty { offset = other.offset }
            bytes += other.bytes
            order = order ?? other.order
        }

        func removeAll() {
            bytes.removeAll(keepingCapacity: true)
            (order, isSecondField) = (nil, false)
        }
    }

    init(codec: Codec, path: String) {
        self.path = path
        detector = AccessUnitDetector(codec: codec)
        // Pictures wait for their number.
        shaper = StreamShaper(pool: AccessUnitPool(codec: codec, limit: PictureQueue.limit + 1))
    }

    mutating func add(_ nalUnit: RawSpan, at offset: Int, _ body: Body) throws(RemuxError) {
        switch detector.next(nalUnit) {
        case .undecided:
            try append(nalUnit, at: offset, to: undecided)
        case .begins:
            try endCurrent(body)
            try extendCurrent(by: nalUnit, at: offset)
        case .continues:
            try extendCurrent(by: nalUnit, at: offset)
        }
    }

    mutating func finish(_ body: Body) throws(RemuxError) {
        current.append(undecided)
        try endCurrent(body)
        try handOn(body)
    }

    private mutating func extendCurrent(by nalUnit: RawSpan, at offset: Int) throws(RemuxError) {
        current.append(undecided)
        undecided.removeAll()
        try append(nalUnit, at: offset, to: current)
        let isSlice = NALUnitHeader(of: nalUnit, codec: detector.parameterSets.codec)?.isSlice ?? false
        if isSlice, current.order == nil {
            current.order = counter.next(nalUnit, detector.parameterSets)
            current.isSecondField = detector.isSecondField
        }
    }

    private func append(_ nalUnit: RawSpan, at offset: Int, to units: Gathered) throws(RemuxError) {
        units.append(nalUnit, at: offset)
        guard units.bytes.count <= RawStream.maximumByteCount else {
            throw malformed("it has more than \(RawStream.maximumByteCount) bytes", at: units.offset)
        }
    }

    /// The access unit at hand is complete: the one before is, too, unless both are fields of one frame.
    private mutating func endCurrent(_ body: Body) throws(RemuxError) {
        if current.isSecondField {
            complete.append(current)
        } else {
            try handOn(body)
            swap(&complete, &current)
        }
        current.removeAll()
    }

    private mutating func handOn(_ body: Body) throws(RemuxError) {
        let complete = complete
        defer { complete.removeAll() }
        guard !complete.bytes.isEmpty else { return }
        let unit: AccessUnit?
        do throws(StreamShapeError) {
            unit = try shaper.shape(complete.bytes.span.bytes, frameNumber: number, sequence: 0, timestamp: 0)
        } catch {
            guard error.rule == .startsWithoutIDR else {
                throw malformed("\(error.rule)", at: complete.offset)
            }
            return try body(nil)
        }
        // Units without a picture, such as parameter sets at the end of the file.
        guard let unit else { return }
        guard let order = complete.order else {
            throw malformed("its slice cannot be read", at: complete.offset)
        }
        number += 1
        try body(RawStream.Picture(unit: unit, order: order))
    }

    private func malformed(_ problem: String, at offset: Int) -> RemuxError {
        .input(InputError(.malformed("the picture at offset \(offset): \(problem)"), input: path))
    }
}
