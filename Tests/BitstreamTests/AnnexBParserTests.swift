import TestSupport
import Testing

@testable import Bitstream

@Suite struct AnnexBParserTests {
    /// What the parser reported at one position in the stream, and the bytes that it passed.
    private struct Found: Equatable {
        var result: Result<AnnexBParser.Unit, AnnexBError>
        var bytes: [UInt8]

        var unit: AnnexBParser.Unit {
            switch result {
            case .success(let unit): unit
            case .failure(let error): error.unit
            }
        }
        var reason: AnnexBError.Reason? {
            guard case .failure(let error) = result else { return nil }
            return error.reason
        }
    }

    /// Parses bytes in chunks of sizes from `next`, at least 1.
    private func parse(
        _ bytes: [UInt8], limit: Int = 1000, endsWithLastChunk: Bool = false, chunk next: () -> Int = { .max }
    ) -> [Found] {
        var parser = AnnexBParser(maximumUnitByteCount: limit)
        var found: [Found] = []
        func note(_ result: Result<AnnexBParser.Unit, AnnexBError>, _ bytes: RawSpan) {
            found.append(Found(result: result, bytes: bytes.withUnsafeBytes { Array($0) }))
        }
        var position = 0
        while position < bytes.count {
            let end = position + min(next(), bytes.count - position)
            let chunk = Array(bytes[position..<end])
            parser.parse(chunk.span.bytes, isLast: endsWithLastChunk && end == bytes.count, note)
            position = end
        }
        if !endsWithLastChunk || bytes.isEmpty { parser.finish(note) }
        return found
    }

    private func units(_ bytes: [UInt8]) -> [[UInt8]] { parse(bytes).map(\.bytes) }

    @Test func bothStartCodesAreFound() {
        let found = parse(hex("00000001 6742 000001 68ce 00000001 65"))
        #expect(found.map(\.bytes) == [hex("6742"), hex("68ce"), hex("65")])
        #expect(found.map(\.unit.offset) == [4, 9, 15])
        #expect(found.map(\.unit.startCodeLength) == [4, 3, 4])
        #expect(found.map(\.unit.startCodeOffset) == [0, 6, 11])
        #expect(found.map(\.unit.byteCount) == [2, 2, 1])
    }

    @Test func zerosAheadAndBehindBelongToNoUnit() {
        let found = parse(hex("0000000000 000001 6742 0000000000 000001 68ce 0000"))
        #expect(found.map(\.bytes) == [hex("6742"), hex("68ce")])
        #expect(found.map(\.unit.leadingZeroCount) == [4, 0])
        #expect(found.map(\.unit.startCodeLength) == [4, 4])
        #expect(found.map(\.unit.trailingZeroCount) == [4, 2])
    }

    @Test func emulationPreventionIsLeftAlone() {
        #expect(units(hex("000001 65 000003 000003 01")) == [hex("65 000003 000003 01")])
    }

    @Test func zerosWithinAUnitBelongToIt() {
        #expect(units(hex("000001 0001 0000 02 000000 80")) == [hex("0001 0000 02 000000 80")])
    }

    @Test(arguments: [true, false])
    func whereChunksEndMakesNoDifference(endsWithLastChunk: Bool) {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let count = Int.random(in: 0...120, using: &generator)
            let bytes = (0..<count).map { _ in
                [0, 0, 0, 0, 1, 1, 2, 0x80][Int.random(in: 0...7, using: &generator)] as UInt8
            }
            let limit = Int.random(in: 1...12, using: &generator)
            let whole = parse(bytes, limit: limit)
            #expect(whole == parse(bytes, limit: limit, endsWithLastChunk: endsWithLastChunk) { 1 })
            let inPieces = parse(bytes, limit: limit, endsWithLastChunk: endsWithLastChunk) {
                Int.random(in: 1...20, using: &generator)
            }
            #expect(whole == inPieces)
        }
    }

    @Test func findsWhatTheScannerFinds() {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<2000 {
            let count = Int.random(in: 0...200, using: &generator)
            let bytes = (0..<count).map { _ in
                [0, 0, 0, 1, 1, 2, 3, 0x80][Int.random(in: 0...7, using: &generator)] as UInt8
            }
            let found = parse(bytes) { 7 }.filter { $0.reason != .bytesOutsideUnits }
            let expected = referenceScan(bytes)
            #expect(found.map(\.unit.offset) == expected.map(\.bytes.lowerBound))
            #expect(found.map(\.bytes) == expected.map { Array(bytes[$0.bytes]) })
            #expect(found.map(\.unit.startCodeLength) == expected.map(\.startCodeLength))
        }
    }

    @Test func everyByteIsAccountedForOnce() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            let count = Int.random(in: 0...60, using: &generator)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...2, using: &generator) }
            var position = 0
            for unit in parse(bytes, limit: 5, chunk: { 3 }).map(\.unit) {
                #expect(unit.startCodeOffset == position + unit.leadingZeroCount)
                position = unit.offset + unit.byteCount + unit.trailingZeroCount
            }
            #expect(position == count)
        }
    }

    @Test func aUnitInOnePieceIsLentWithoutACopy() {
        let bytes = hex("00000001 6742 000001 68ce 00000001 65")
        var parser = AnnexBParser(maximumUnitByteCount: 100)
        var addresses: [UInt?] = []
        bytes.withUnsafeBytes { buffer in
            parser.parse(buffer.bytes, isLast: true) { _, nalUnit in
                nalUnit.withUnsafeBytes { addresses.append($0.baseAddress.map(UInt.init(bitPattern:))) }
            }
            let start = UInt(bitPattern: buffer.baseAddress)
            #expect(addresses == [start + 4, start + 9, start + 15])
        }
        #expect(parser.capacity == 0)
    }

    @Test func aUnitBeyondTheLimitIsAnErrorAndTheNextOneIsRead() throws {
        let found = parse(annexB([hex("6701020304"), hex("68")]), limit: 4)
        #expect(found.map(\.reason) == [.unitTooLarge(limit: 4), nil])
        #expect(found.map(\.unit.byteCount) == [5, 1])
        #expect(found.map(\.bytes) == [hex("67010203"), hex("68")])
        let error = #expect(throws: AnnexBError.self) { try found[0].result.get() }
        #expect(error?.offset == 4)
        #expect("\(try #require(error))" == "offset 4: a NAL unit of 5 bytes is larger than the limit of 4")
    }

    @Test func memoryStaysWithinTheLimit() {
        var parser = AnnexBParser(maximumUnitByteCount: 5000)
        var sizes: [Int] = []
        let startCode = hex("000001")
        let content = [UInt8](repeating: 7, count: 999)
        let zeros = [UInt8](repeating: 0, count: 999)
        for _ in 0..<2 {
            parser.parse(startCode.span.bytes) { _, _ in }
            for _ in 0..<200 {
                parser.parse(zeros.span.bytes) { _, _ in }
                parser.parse(content.span.bytes) { _, _ in }
                #expect(parser.capacity < 5100)
            }
        }
        parser.finish { result, nalUnit in
            sizes.append(nalUnit.byteCount)
            #expect(throws: AnnexBError.self) { try result.get() }
        }
        #expect(sizes == [5000])
    }

    @Test func whatPrecedesTheFirstStartCodeIsReported() {
        let found = parse(hex("ff00ff 00 000001 67"))
        #expect(found.map(\.reason) == [.bytesOutsideUnits, nil])
        #expect(found[0].unit.offset == 0)
        #expect(found[0].unit.byteCount == 3)
        #expect(found[0].bytes.isEmpty)
        #expect(found[1].unit.startCodeOffset == 3)
    }

    @Test(arguments: ["00", "0000", "000000000000", "0001", "67426742674267426742"])
    func aStreamWithoutStartCodeIsReported(_ digits: String) {
        #expect(parse(hex(digits)).map(\.reason) == [.bytesOutsideUnits])
    }

    @Test func anEmptyStreamHasNothing() {
        #expect(parse([]).isEmpty)
    }

    @Test func emptyUnitsAreReported() {
        #expect(parse(hex("000001 000001 67")).map(\.reason) == [.emptyUnit, nil])
        #expect(parse(hex("000001 67 00000001 0000")).map(\.reason) == [nil, .emptyUnit])
        #expect(parse(hex("000001 000000 000001 67")).map(\.reason) == [.emptyUnit, nil])
    }

    @Test func whatTheBodyThrowsComesOut() {
        struct Enough: Error {}
        let bytes = annexB([Sample.sps, Sample.pps, Sample.idr])
        var parser = AnnexBParser(maximumUnitByteCount: 100)
        var count = 0
        #expect(throws: Enough.self) {
            try parser.parse(bytes.span.bytes) { _, _ throws(Enough) in
                count += 1
                if count == 2 { throw Enough() }
            }
        }
        #expect(count == 2)
    }

    @Test func afterTheEndAnotherStreamMayBegin() {
        var parser = AnnexBParser(maximumUnitByteCount: 100)
        var offsets: [Int?] = []
        func note(_ result: Result<AnnexBParser.Unit, AnnexBError>, _ bytes: RawSpan) {
            offsets.append(try? result.get().offset)
        }
        for _ in 0..<2 {
            for byte in annexB([Sample.sps, Sample.pps]) {
                let chunk = [byte]
                parser.parse(chunk.span.bytes, note)
            }
            parser.finish(note)
        }
        let second = 4 + Sample.sps.count + 4
        #expect(offsets == [4, second, 4, second])
    }
}
