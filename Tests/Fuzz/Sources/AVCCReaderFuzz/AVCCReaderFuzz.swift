import Bitstream
import FuzzSupport

private struct Found: Equatable {
    let result: Result<AVCC.Unit, AVCCError>
    let bytes: [UInt8]
}

private func read(_ chunks: [[UInt8]], _ lengthSize: AVCC.LengthSize, limit: Int) -> [Found] {
    var reader = AVCC.Reader(lengthSize: lengthSize, maximumUnitByteCount: limit)
    var found: [Found] = []
    func note(_ result: Result<AVCC.Unit, AVCCError>, _ nalUnit: RawSpan) {
        found.append(Found(result: result, bytes: nalUnit.withUnsafeBytes { Array($0) }))
    }
    for chunk in chunks { reader.read(chunk.span.bytes, note) }
    reader.finish(note)
    return found
}

/// Reads in one piece and in chunks: both find the same. Writing the units gives the same bytes, and they
/// survive conversion to Annex B and back if Annex B can represent them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let lengthSize = AVCC.LengthSize.allCases[input.choice(0...2)]
    let limit = input.choice(1...256)
    let chunks = input.chunks()
    let stream = input.rest
    let found = read([stream], lengthSize, limit: limit)
    promise(found == read(chunks, lengthSize, limit: limit), "where chunks end makes no difference")

    let writer = AVCC.Writer(lengthSize: lengthSize)
    for place in found {
        switch place.result {
        case .success(let unit):
            var written: [UInt8] = []
            promise((try? writer.append(place.bytes.span.bytes, to: &written)) != nil, "read is writable")
            promise(
                written.elementsEqual(stream[unit.lengthOffset..<unit.offset + unit.byteCount]),
                "written is what was read")
            passThroughAnnexB(place.bytes)
        case .failure(let error):
            promise(!error.description.isEmpty, "an error has words")
        }
    }
    return 0
}

private func passThroughAnnexB(_ unit: [UInt8]) {
    var stream: [UInt8] = []
    guard (try? AnnexBWriter().append(unit.span.bytes, to: &stream)) != nil else { return }
    var parser = AnnexBParser(maximumUnitByteCount: 1 << 20)
    var units: [[UInt8]] = []
    parser.parse(stream.span.bytes, isLast: true) { result, nalUnit in
        promise((try? result.get()) != nil, "Annex B has nothing but the unit")
        units.append(nalUnit.withUnsafeBytes { Array($0) })
    }
    promise(units == [unit], "a unit survives Annex B")
}
