import Bitstream
import FuzzSupport

/// Gathers a stream in chunks and in one piece: the same access units come out, and no NAL unit is lost. Or
/// breaks the connection somewhere in the stream.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let codec = Codec.allCases[input.choice(0...1)]
    let byteLimit = 1 << input.choice(4...20)
    let abandoned = input.choice(0...255)
    let chunks = input.chunks()
    if abandoned < chunks.count {
        abandon(chunks, after: abandoned, codec, byteLimit)
        return 0
    }
    let stream = chunks.flatMap { $0 }
    let whole = gather([stream], codec, byteLimit)
    promise(gather(chunks, codec, byteLimit) == whole, "where chunks end makes no difference")
    // A start code may be written longer than it was.
    if 2 * stream.count < byteLimit {
        let units = nalUnits(of: stream)
        let isSound = !units.contains { EmulationPrevention.isBroken(in: $0.span.bytes) }
        promise(!isSound || !whole.contains(where: \.isIncomplete), "what fits and is sound is complete")
        promise(nalUnits(of: whole.flatMap(\.bytes)) == units, "every NAL unit is there")
    }
    return 0
}

/// The report on an access unit.
private struct Gathered: Equatable {
    let number: Int
    let hasPicture: Bool
    let isEntryPoint: Bool
    let followsGap: Bool
    let isIncomplete: Bool
    /// The size of the parameter sets in force: for thousands of access units they may exceed the stream.
    let setsHash: Int
    let bytes: [UInt8]

    init(_ unit: borrowing ReceivedAccessUnit) {
        number = unit.number
        hasPicture = unit.hasPicture
        isEntryPoint = unit.isEntryPoint
        followsGap = unit.followsGap
        isIncomplete = unit.isIncomplete
        setsHash = unit.parameterSets.annexB.hashValue
        bytes = unit.withUnsafeBytes { Array($0) }
    }
}

private func gather(_ chunks: [[UInt8]], _ codec: Codec, _ byteLimit: Int) -> [Gathered] {
    let assembler = AccessUnitAssembler(codec: codec, byteLimit: byteLimit)
    var units: [Gathered] = []
    func take(_ unit: borrowing ReceivedAccessUnit) {
        units.append(Gathered(unit))
        promise(units[units.count - 1].number == units.count - 1, "access units are numbered")
        promise(units[units.count - 1].bytes.count <= byteLimit, "no access unit is above the limit")
    }
    for chunk in chunks { assembler.add(chunk.span.bytes, take) }
    assembler.finish(take)
    return units
}

/// A connection that breaks, and the next one.
private func abandon(_ chunks: [[UInt8]], after count: Int, _ codec: Codec, _ byteLimit: Int) {
    let assembler = AccessUnitAssembler(codec: codec, byteLimit: byteLimit)
    var isFirst = false
    for (number, chunk) in chunks.enumerated() {
        assembler.add(chunk.span.bytes) { unit in
            promise(!isFirst || unit.followsGap, "a new connection begins behind a loss")
            isFirst = false
        }
        if number == count {
            assembler.abandon()
            isFirst = true
        }
    }
}

private func nalUnits(of stream: [UInt8]) -> [[UInt8]] {
    var units: [[UInt8]] = []
    var parser = AnnexBParser(maximumUnitByteCount: 1 << 24)
    parser.parse(stream.span.bytes, isLast: true) { result, nalUnit in
        guard (try? result.get()) != nil else { return }
        units.append(nalUnit.withUnsafeBytes { Array($0) })
    }
    return units
}
