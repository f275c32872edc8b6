import Bitstream
import FuzzSupport

private struct Found: Equatable {
    let result: Result<AnnexBParser.Unit, AnnexBError>
    let bytes: [UInt8]

    var unit: AnnexBParser.Unit {
        switch result {
        case .success(let unit): unit
        case .failure(let error): error.unit
        }
    }
}

private func parse(_ chunks: [[UInt8]], limit: Int, endsWithLastChunk: Bool) -> [Found] {
    var parser = AnnexBParser(maximumUnitByteCount: limit)
    var found: [Found] = []
    func note(_ result: Result<AnnexBParser.Unit, AnnexBError>, _ nalUnit: RawSpan) {
        found.append(Found(result: result, bytes: nalUnit.withUnsafeBytes { Array($0) }))
    }
    for (index, chunk) in chunks.enumerated() {
        parser.parse(chunk.span.bytes, isLast: endsWithLastChunk && index == chunks.count - 1, note)
    }
    if !endsWithLastChunk || chunks.isEmpty { parser.finish(note) }
    return found
}

/// Parses in one piece and in chunks: both find the same, and every byte of the stream once.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let limit = input.choice(1...256)
    let endsWithLastChunk = input.choice(0...1) == 1
    let chunks = input.chunks()
    let stream = input.rest
    let found = parse([stream], limit: limit, endsWithLastChunk: true)
    promise(
        found == parse(chunks, limit: limit, endsWithLastChunk: endsWithLastChunk),
        "where chunks end makes no difference")

    var position = 0
    var scanner = NALUnitScanner()
    for place in found {
        let unit = place.unit
        promise(
            unit.startCodeOffset - unit.leadingZeroCount == position, "every byte is accounted for once")
        position = unit.offset + unit.byteCount + unit.trailingZeroCount
        let isUnit = unit.startCodeLength > 0
        let lent = stream[unit.offset...].prefix(isUnit ? min(unit.byteCount, limit) : 0)
        promise(place.bytes.elementsEqual(lent), "the bytes are the stream's")
        guard isUnit else { continue }
        let location = scanner.next(in: stream.span.bytes)
        promise(location?.bytes == unit.offset..<unit.offset + unit.byteCount, "the scanner agrees")
        promise(location?.startCodeLength == unit.startCodeLength, "the scanner agrees")
    }
    promise(position == stream.count, "every byte is accounted for")
    promise(scanner.next(in: stream.span.bytes) == nil, "the scanner finds no more")
    return 0
}
