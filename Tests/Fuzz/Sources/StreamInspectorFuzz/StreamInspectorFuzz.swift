import Bitstream
import FuzzSupport

/// Inspects a stream, chunk by chunk, as each of both codecs.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let codec = Codec.allCases[input.choice(0...1)]
    let framing: NALUnitSource.Framing = input.choice(0...3) == 0 ? .lengthPrefixed(.two) : .annexB
    let chunks = input.chunks()
    var source = NALUnitSource(framing, maximumUnitByteCount: 1 << 16)
    var inspector = StreamInspector(codec: codec, pictureLimit: 16)
    var shape: StreamShapeInspector? = StreamShapeInspector(codec: codec)
    for index in 0...chunks.count {
        let chunk = index < chunks.count ? chunks[index] : []
        source.parse(chunk.span.bytes, isLast: index == chunks.count) { piece, nalUnit in
            var begins = false
            if let problem = piece.problem {
                inspector.note(problem.message, at: problem.offset)
            } else {
                begins = inspector.inspect(nalUnit, at: piece.place).beginsAccessUnit
            }
            do { try shape?.add(piece, nalUnit, beginsAccessUnit: begins) } catch { shape = nil }
        }
    }
    let byteCount = chunks.reduce(0) { $0 + $1.count }
    inspector.finish(byteCount: byteCount)
    let summary = inspector.summary
    promise(
        inspector.pictures.count == min(summary.accessUnitCount, 16), "each picture is kept up to the limit")
    promise(summary.pictureByteCount <= byteCount, "pictures are made of the stream's bytes")
    return 0
}
