import TestSupport
import Testing

@testable import Bitstream

@Suite struct AVCCTests {
    /// What the reader reported at one position in the stream, and the bytes that it passed.
    private struct Found: Equatable {
        var result: Result<AVCC.Unit, AVCCError>
        var bytes: [UInt8]

        var reason: AVCCError.Reason? {
            guard case .failure(let error) = result else { return nil }
            return error.reason
        }
        var unit: AVCC.Unit {
            switch result {
            case .success(let unit): unit
            case .failure(let error): error.unit
            }
        }
    }

    /// Reads bytes in chunks of sizes from `next`, at least 1.
    private func read(
        _ bytes: [UInt8], _ lengthSize: AVCC.LengthSize = .four, limit: Int = 1000,
        chunk next: () -> Int = { .max }
    ) -> [Found] {
        var reader = AVCC.Reader(lengthSize: lengthSize, maximumUnitByteCount: limit)
        var found: [Found] = []
        func note(_ result: Result<AVCC.Unit, AVCCError>, _ bytes: RawSpan) {
            found.append(Found(result: result, bytes: bytes.withUnsafeBytes { Array($0) }))
        }
        var position = 0
        while position < bytes.count {
            let end = position + min(next(), bytes.count - position)
            let chunk = Array(bytes[position..<end])
            reader.read(chunk.span.bytes, note)
            position = end
        }
        reader.finish(note)
        return found
    }

    private func write(_ units: [[UInt8]], _ lengthSize: AVCC.LengthSize) throws -> [UInt8] {
        let writer = AVCC.Writer(lengthSize: lengthSize)
        var stream: [UInt8] = []
        for unit in units { try writer.append(unit.span.bytes, to: &stream) }
        return stream
    }

    @Test func lengthsHaveOneTwoOrFourBytes() {
        #expect(
            (-1...5).map { AVCC.LengthSize(lengthSizeMinusOne: $0) } == [
                nil, .one, .two, nil, .four, nil, nil,
            ])
        #expect(AVCC.LengthSize(lengthSizeMinusOne: .max) == nil)
        #expect(AVCC.LengthSize.allCases.map(\.lengthSizeMinusOne) == [0, 1, 3])
        #expect(AVCC.LengthSize.allCases.map(\.maximumUnitByteCount) == [255, 65535, 0xFFFF_FFFF])
    }

    @Test func lengthsAreBigEndian() throws {
        let unit = [UInt8](repeating: 7, count: 0x102)
        #expect(try write([unit], .two).prefix(3) == [1, 2, 7])
        #expect(try write([unit], .four).prefix(5) == [0, 0, 1, 2, 7])
        #expect(try write([hex("6742"), hex("68")], .one) == hex("02 6742 01 68"))
    }

    @Test func unitsAndTheirPlacesAreFound() {
        let found = read(hex("0002 6742 0003 000001 0001 65"), .two)
        #expect(found.map(\.bytes) == [hex("6742"), hex("000001"), hex("65")])
        #expect(found.map(\.unit.offset) == [2, 6, 11])
        #expect(found.map(\.unit.lengthOffset) == [0, 4, 9])
        #expect(found.map(\.unit.byteCount) == [2, 3, 1])
    }

    @Test(arguments: AVCC.LengthSize.allCases)
    func whatIsWrittenIsReadInAnyChunks(lengthSize: AVCC.LengthSize) throws {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<300 {
            let units = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
                generator.bytes(Int.random(in: 1...255, using: &generator))
            }
            let stream = try write(units, lengthSize)
            let whole = read(stream, lengthSize)
            #expect(whole.map(\.bytes) == units)
            #expect(whole.allSatisfy { $0.reason == nil })
            #expect(whole == read(stream, lengthSize) { 1 })
            #expect(whole == read(stream, lengthSize) { Int.random(in: 1...40, using: &generator) })
        }
    }

    @Test(arguments: AVCC.LengthSize.allCases)
    func anyBytesAreReadAlikeInAnyChunks(lengthSize: AVCC.LengthSize) {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<1000 {
            let count = Int.random(in: 0...60, using: &generator)
            let bytes = (0..<count).map { _ in
                [0, 0, 0, 1, 3, 9][Int.random(in: 0...5, using: &generator)] as UInt8
            }
            let whole = read(bytes, lengthSize, limit: 5)
            #expect(whole == read(bytes, lengthSize, limit: 5) { 1 })
            #expect(whole == read(bytes, lengthSize, limit: 5) { Int.random(in: 1...20, using: &generator) })
        }
    }

    @Test func aUnitInOnePieceIsLentWithoutACopy() {
        var reader = AVCC.Reader(lengthSize: .one, maximumUnitByteCount: 100)
        var addresses: [UInt?] = []
        hex("02 6742 01 68").withUnsafeBytes { buffer in
            reader.read(buffer.bytes) { _, nalUnit in
                nalUnit.withUnsafeBytes { addresses.append($0.baseAddress.map(UInt.init(bitPattern:))) }
            }
            let start = UInt(bitPattern: buffer.baseAddress)
            #expect(addresses == [start + 1, start + 4])
        }
        #expect(reader.capacity == 0)
    }

    @Test func aUnitBeyondTheLimitIsAnErrorAndTheNextOneIsRead() {
        let found = read(hex("05 6701020304 01 68"), .one, limit: 4) { 2 }
        #expect(found.map(\.reason) == [.unitTooLarge(limit: 4), nil])
        #expect(found.map(\.bytes) == [hex("67010203"), hex("68")])
    }

    @Test func memoryStaysWithinTheLimit() {
        var reader = AVCC.Reader(lengthSize: .four, maximumUnitByteCount: 5000)
        let length = hex("ffffffff")
        let content = [UInt8](repeating: 7, count: 999)
        reader.read(length.span.bytes) { _, _ in }
        for _ in 0..<200 {
            reader.read(content.span.bytes) { _, _ in }
            #expect(reader.capacity < 5100)
        }
        var reasons: [AVCCError.Reason] = []
        reader.finish { result, _ in
            if case .failure(let error) = result { reasons.append(error.reason) }
        }
        #expect(reasons == [.truncatedUnit(byteCount: 200 * 999)])
    }

    @Test func lengthsOfZeroAreReported() {
        #expect(read(hex("00 01 68"), .one).map(\.reason) == [.emptyUnit, nil])
    }

    @Test func streamsThatEndEarlyAreReported() {
        let inUnit = read(hex("00000001 68 00000003 6742"))
        #expect(inUnit.map(\.reason) == [nil, .truncatedUnit(byteCount: 2)])
        #expect(inUnit[1].bytes == hex("6742"))
        #expect(inUnit[1].unit.lengthOffset == 5)
        let inLength = read(hex("00000001 68 000000"))
        #expect(inLength.map(\.reason) == [nil, .truncatedLength(byteCount: 3)])
    }

    @Test func aUnitWithoutALengthOfTheSizeIsRefused() {
        var stream: [UInt8] = []
        func refusal(_ byteCount: Int, _ lengthSize: AVCC.LengthSize) -> AVCC.Writer.Unrepresentable? {
            let unit = [UInt8](repeating: 7, count: byteCount)
            do throws(AVCC.Writer.Unrepresentable) {
                try AVCC.Writer(lengthSize: lengthSize).append(unit.span.bytes, to: &stream)
                return nil
            } catch {
                return error
            }
        }
        #expect(refusal(256, .one) == .tooLong(byteCount: 256, lengthSize: .one))
        #expect(refusal(65536, .two) == .tooLong(byteCount: 65536, lengthSize: .two))
        #expect(refusal(0, .four) == .empty)
        #expect(stream.isEmpty)
        #expect(refusal(255, .one) == nil)
        #expect(refusal(65536, .four) == nil)
        #expect(stream.count == 256 + 65540)
    }

    @Test(arguments: AVCC.LengthSize.allCases)
    func annexBBecomesAVCCAndBackUnitByUnit(lengthSize: AVCC.LengthSize) throws {
        let units = [Sample.sps, Sample.pps, Sample.sei, Sample.idr, Sample.p, Sample.filler]
        let mixed = annexB3([units[0]]) + annexB(Array(units[1...]))
        let toAVCC = AVCC.Writer(lengthSize: lengthSize)
        var avcc: [UInt8] = []
        var parser = AnnexBParser(maximumUnitByteCount: 1000)
        try parser.parse(mixed.span.bytes, isLast: true) { result, nalUnit in
            _ = try result.get()
            try toAVCC.append(nalUnit, to: &avcc)
        }
        #expect(read(avcc, lengthSize).map(\.bytes) == units)

        var back: [UInt8] = []
        var reader = AVCC.Reader(lengthSize: lengthSize, maximumUnitByteCount: 1000)
        try reader.read(avcc.span.bytes, isLast: true) { result, nalUnit in
            _ = try result.get()
            try AnnexBWriter().append(nalUnit, to: &back)
        }
        #expect(back == annexB(units))
    }

    @Test func whatAnnexBCannotCarryIsRefused() {
        var stream: [UInt8] = []
        func refusal(_ unit: String) -> AnnexBWriter.Unrepresentable? {
            let bytes = hex(unit)
            do throws(AnnexBWriter.Unrepresentable) {
                try AnnexBWriter().append(bytes.span.bytes, to: &stream)
                return nil
            } catch {
                return error
            }
        }
        #expect(refusal("") == .empty)
        #expect(refusal("6700") == .trailingZero)
        #expect(refusal("67000001") == .startCode(position: 1))
        #expect(stream.isEmpty)
        #expect(refusal("67000002") == nil)
    }
}
