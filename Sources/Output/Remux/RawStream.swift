import Bitstream
import CamPlatform

/// A file with a raw stream of either codec, as Annex B or AVCC, read picture by picture.
///
/// Memory use is bounded by the largest picture, whatever the file.
final class RawStream: PictureStream {
    let codec: Codec
    private let file: InputFile
    private let framing: NALUnitSource.Framing
    private(set) var damage: [StreamDamage] = []
    /// What follows the last NAL unit, in words; nil if nothing does.
    private var tail: String?
    /// Parameter sets that the file lacks, in its own framing.
    private let missingSets: [UInt8]

    /// The largest NAL unit and the largest picture accepted, in bytes; level 6.2 has no larger ones.
    static let maximumByteCount = 64 << 20

    /// Opens the file and detects its codec.
    /// - Parameter record: the configuration stored separately from an AVCC stream.
    convenience init(path: String, record: DecoderConfigurationRecord? = nil) throws(InputError) {
        try self.init(try InputFile(path: path), record: record)
    }

    /// Detects the codec of an open file.
    init(_ file: InputFile, record: DecoderConfigurationRecord? = nil) throws(InputError) {
        self.file = file
        let path = file.path
        let head = try file.read()
        if let record {
            (codec, framing) = (record.codec, .lengthPrefixed(record.lengthSize))
            missingSets = record.prefix(ofStreamBeginningWith: head.bytes)
            return
        }
        missingSets = []
        switch StreamKind(head: head.bytes, isWhole: head.count < StreamKind.decisiveByteCount) {
        case .stream(let codec, let framing)?: (self.codec, self.framing) = (codec, framing)
        case .container(let kind)?:
            throw InputError(.malformed("this is \(kind), not a raw stream"), input: path)
        case .other(let kind)?:
            throw InputError(
                .malformed("this is \(kind); remux takes .h264, .h265, .avcc, .mkv, .mp4 and .ts"),
                input: path)
        case .empty?: throw InputError(.malformed("it is empty; give a recording"), input: path)
        default:
            throw InputError(
                .malformed(
                    "no H.264 or H.265 found; check with camrec inspect --codec h264, or hevc"),
                input: path)
        }
    }

    var path: String { file.path }
    var identity: FileIdentity? { file.identity }
    var hasTimes: Bool { false }
    var brokenEnd: String? { tail ?? damage.compactMap(\.atEnd).first }

    /// A raw stream knows no place but its beginning.
    func forEach(
        near start: Duration, isOver: () -> Bool, _ body: (StreamPiece) throws(RemuxError) -> Void
    ) throws(RemuxError) {
        var source = NALUnitSource(framing, maximumUnitByteCount: Self.maximumByteCount)
        var assembler = PictureAssembler(codec: codec, path: path)
        file.rewind()
        func take(_ chunk: RawSpan, isLast: Bool) throws(RemuxError) {
            try source.parse(chunk, isLast: isLast) { (piece, nalUnit) throws(RemuxError) in
                guard let problem = piece.problem else {
                    return try assembler.add(nalUnit, at: piece.place.offset, body)
                }
                if problem.isTail { return tail = "\(problem)" }
                throw .input(InputError(.malformed("\(problem)"), input: path))
            }
        }
        let sets = missingSets
        try take(sets.span.bytes, isLast: false)
        var isAtEnd = false
        while !isAtEnd, !isOver() {
            let chunk: UnsafeRawBufferPointer
            do throws(InputError) { chunk = try file.read() } catch { throw .input(error) }
            isAtEnd = chunk.isEmpty
            try take(chunk.bytes, isLast: isAtEnd)
        }
        if isAtEnd { try assembler.finish(body) }
        damage = [assembler.damage]
    }
}
