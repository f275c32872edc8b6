import Testing

@testable import Bitstream

@Suite struct StreamShapeInspectorTests {
    private static let idr = [Sample.sps, Sample.pps, Sample.idr]

    /// The rule that a whole stream breaks, found with chunks of this size.
    private func violation(_ stream: [UInt8], chunk: Int = 1 << 20) -> StreamShapeViolation? {
        var source = NALUnitSource(.annexB, maximumUnitByteCount: 1 << 16)
        var inspector = StreamInspector(codec: .h264)
        var shape = StreamShapeInspector(codec: .h264)
        do throws(StreamShapeViolation) {
            for start in stride(from: 0, through: stream.count, by: chunk) {
                let end = min(start + chunk, stream.count)
                let isLast = start + chunk > stream.count
                try source.parse(stream.span.bytes.extracting(start..<end), isLast: isLast) {
                    (piece, nalUnit) throws(StreamShapeViolation) in
                    let begins =
                        piece.problem == nil && inspector.inspect(nalUnit, at: piece.place).beginsAccessUnit
                    try shape.add(piece, nalUnit, beginsAccessUnit: begins)
                }
            }
            try shape.finish()
            return nil
        } catch {
            return error
        }
    }

    @Test func theGuaranteedShapePassesInChunksOfAnySize() {
        let stream = annexB(Self.idr + [Sample.p] + Self.idr)
        for chunk in [1, 2, 3, 5, 16, 1000] { #expect(violation(stream, chunk: chunk) == nil) }
    }

    @Test func offencesAreNamedWithTheirOffsetInTheStream() {
        let sound = annexB(Self.idr + [Sample.p])
        let cases: [(stream: [UInt8], rule: StreamShapeViolation.Rule, offset: Int)] = [
            (sound + annexB3([Sample.p]), .startCode, sound.count),
            (sound + annexB([Sample.idr]), .parameterSetMissing, sound.count + 4),
            (sound + annexB([Sample.aud, Sample.p]), .unitType, sound.count + 4),
            ([0] + sound, .startCode, 0),
            ([0xFF] + sound, .startCode, 0),
            (sound + [0, 0, 0, 1] + sound, .emptyUnit, sound.count + 4),
            (sound + [0], .startCode, sound.count),
            (annexB([Sample.p]), .startsWithoutIDR, 4),
        ]
        for (stream, rule, offset) in cases {
            for chunk in [1, 7, 1000] {
                let found = violation(stream, chunk: chunk)
                #expect(found?.rule == rule)
                #expect(found?.offset == offset)
            }
        }
    }

    @Test func unitsBehindLengthsAreAnOffence() {
        var source = NALUnitSource(.lengthPrefixed(.one), maximumUnitByteCount: 1 << 16)
        var shape = StreamShapeInspector(codec: .h264)
        let stream = [UInt8(Sample.sps.count)] + Sample.sps
        #expect(throws: StreamShapeViolation.self) {
            try source.parse(stream.span.bytes, isLast: true) {
                (piece, nalUnit) throws(StreamShapeViolation) in
                try shape.add(piece, nalUnit, beginsAccessUnit: true)
            }
        }
    }
}
