import Testing

@testable import Bitstream

@Suite struct StreamShapeCheckerTests {
    private static let sets = [Sample.sps, Sample.pps]
    private static let idr = sets + [Sample.idr]

    /// The rule that the last of these access units breaks; the others are correct.
    private func rule(
        _ accessUnits: [UInt8]..., slicesPerPicture: Int? = nil, expectsIDR: Bool? = nil
    ) throws -> StreamShapeViolation.Rule? {
        var checker = StreamShapeChecker(codec: .h264, slicesPerPicture: slicesPerPicture)
        for accessUnit in accessUnits.dropLast() { try checker.check(accessUnit) }
        do {
            try checker.check(accessUnits[accessUnits.count - 1], expectsIDR: expectsIDR)
            return nil
        } catch {
            return error.rule
        }
    }

    @Test func theGuaranteedShapePasses() throws {
        let tail = [Sample.filler, Sample.endOfSequence]
        #expect(try rule(annexB(Self.idr), annexB([Sample.p]), annexB([Sample.sei, Sample.p])) == nil)
        #expect(try rule(annexB(Self.sets + [Sample.sei, Sample.sei] + Sample.idrSlices)) == nil)
        #expect(try rule(annexB(Self.idr + tail), annexB(Self.idr)) == nil)
        #expect(try rule(annexB([Sample.sps, pps(0, sequence: 0), pps(9, sequence: 0), Sample.idr])) == nil)
    }

    @Test func itTellsWhatIsAnIDRPicture() throws {
        var checker = StreamShapeChecker(codec: .h264)
        #expect(try checker.check(annexB(Self.idr)))
        #expect(try !checker.check(annexB([Sample.p])))
    }

    @Test func startCodesHaveFourBytesAndNothingBetween() throws {
        #expect(try rule(annexB(Self.sets) + annexB3([Sample.idr])) == .startCode)
        #expect(try rule(annexB3(Self.idr)) == .startCode)
        #expect(try rule([0] + annexB(Self.idr)) == .startCode)
        #expect(try rule(annexB(Self.idr) + [0]) == .startCode)
        #expect(try rule(annexB(Self.sets) + [0] + annexB([Sample.idr])) == .startCode)
        #expect(try rule([0xFF] + annexB(Self.idr)) == .startCode)
        #expect(try rule(annexB([[]] + Self.idr)) == .emptyUnit)
        #expect(try rule([]) == .noSlice)
        #expect(try rule([1, 2, 3]) == .startCode)
    }

    @Test func headersFollow7_4_1() throws {
        #expect(try rule(annexB(Self.sets + [[0xE5] + Sample.idr.dropFirst()])) == .forbiddenZeroBit)
        #expect(try rule(annexB(Self.sets + [[0x05] + Sample.idr.dropFirst()])) == .referenceIndication)
        #expect(
            try rule(annexB(Self.sets + [[0x26] + Sample.sei.dropFirst(), Sample.idr]))
                == .referenceIndication)
    }

    @Test func unitsWithoutAPlaceAreRefused() throws {
        for unit in [Sample.aud, [0x62, 0x80], [0x6E, 0x80], [0x6F, 0x80], [0x74, 0x80], [0x60, 0x80]] {
            #expect(try rule(annexB([unit] + Self.idr)) == .unitType)
        }
    }

    @Test func theOrderIsFixed() throws {
        #expect(try rule(annexB([Sample.sei] + Self.idr)) == .unitOrder)
        #expect(
            try rule(annexB([pps(0, sequence: 0), Sample.sps, Sample.idr])) == .unknownParameterSet(id: 0))
        #expect(try rule(annexB(Self.sets + [Sample.changedSPS, Sample.idr])) == .unitOrder)
        #expect(try rule(annexB(Self.idr + [Sample.sei])) == .unitOrder)
        #expect(try rule(annexB(Self.idr + Self.sets)) == .unitOrder)
        #expect(try rule(annexB(Self.sets + [Sample.filler, Sample.idr])) == .unitOrder)
        #expect(try rule(annexB(Self.sets + [Sample.endOfSequence, Sample.idr])) == .unitOrder)
        #expect(try rule(annexB(Self.idr + [Sample.endOfSequence, Sample.filler])) == .unitOrder)
    }

    @Test func setsStandAheadOfEveryIDROnceAndNowhereElse() throws {
        #expect(try rule(annexB([Sample.idr])) == .parameterSetMissing)
        #expect(try rule(annexB(Self.idr), annexB([Sample.idr])) == .parameterSetMissing)
        #expect(try rule(annexB([Sample.sps, Sample.idr])) == .parameterSetMissing)
        #expect(try rule(annexB([Sample.pps, Sample.idr])) == .unknownParameterSet(id: 0))
        #expect(try rule(annexB([Sample.sps, Sample.sps, Sample.pps, Sample.idr])) == .parameterSetRepeated)
        #expect(try rule(annexB([Sample.sps, Sample.pps, Sample.pps, Sample.idr])) == .parameterSetRepeated)
        #expect(try rule(annexB(Self.idr), annexB(Self.sets + [Sample.p])) == .parameterSetWithoutIDR)
        #expect(try rule(annexB(Self.idr), annexB([Sample.sps, Sample.p])) == .parameterSetWithoutIDR)
    }

    @Test func referencesToSetsResolve() throws {
        #expect(
            try rule(annexB([Sample.sps, pps(3, sequence: 0), Sample.idr])) == .unknownParameterSet(id: 0))
        #expect(
            try rule(annexB([Sample.sps, pps(0, sequence: 4), Sample.idr])) == .unknownParameterSet(id: 4))
        // first_mb_in_slice 0, slice_type 5, pic_parameter_set_id 200
        var writer = BitWriter()
        for value in [0, 5, 200] { writer.ue(value) }
        #expect(
            try rule(annexB(Self.idr), annexB([writer.nalUnit(header: 0x41)]))
                == .unknownParameterSet(id: 200))
    }

    @Test func decodingBeginsWithAnIDR() throws {
        #expect(try rule(annexB([Sample.p])) == .startsWithoutIDR)
        #expect(try rule(annexB(Self.idr + [Sample.endOfSequence]), annexB([Sample.p])) == .startsWithoutIDR)
    }

    @Test func slicesAreThoseOfOnePicture() throws {
        #expect(try rule(annexB(Self.idr + [Sample.idr])) == .pictureBoundary)
        #expect(try rule(annexB(Self.sets + Sample.idrSlices.dropFirst())) == .pictureBoundary)
        #expect(try rule(annexB(Self.idr), annexB([Sample.p, Sample.p])) == .pictureBoundary)
        #expect(try rule(annexB(Self.idr + [Sample.p])) == .mixedSlices)
        let disposable = [0x01] + Sample.p.dropFirst()
        #expect(try rule(annexB(Self.idr), annexB([Sample.p, disposable])) == .mixedSlices)
        #expect(try rule(annexB(Self.sets)) == .noSlice)
    }

    @Test func unreadableUnitsAreRefused() throws {
        let truncated = SyntaxError(element: "first_mb_in_slice", reason: .truncated, bitOffset: 8)
        #expect(try rule(annexB(Self.sets + [[0x65]])) == .syntax(truncated))
    }

    @Test func expectationsOfTheCallerAreHeldTo() throws {
        let idr = annexB(Self.idr)
        let p = annexB([Sample.p])
        #expect(try rule(idr, expectsIDR: true) == nil)
        #expect(try rule(idr, p, expectsIDR: true) == .idrMissing)
        #expect(try rule(idr, idr, expectsIDR: false) == .idrUnexpected)
        #expect(try rule(idr, p, slicesPerPicture: 1) == nil)
        #expect(try rule(annexB(Self.sets + Sample.idrSlices), slicesPerPicture: 3) == nil)
        #expect(
            try rule(annexB(Self.sets + Sample.idrSlices), slicesPerPicture: 1)
                == .sliceCount(expected: 1, found: 3))
    }

    @Test func whatAnAccessUnitSaysOfItselfIsCompared() throws {
        let pool = AccessUnitPool(codec: .h264)
        var checker = StreamShapeChecker(codec: .h264)
        try checker.check(pool.make(Self.idr, isIDR: true))
        #expect(throws: StreamShapeViolation.self) { try checker.check(pool.make(Self.idr, isIDR: false)) }
        // A start code inside a single unit.
        var other = StreamShapeChecker(codec: .h264)
        let glued = Self.sets + [Sample.sei + annexB([Sample.idr])]
        let violation = #expect(throws: StreamShapeViolation.self) {
            try other.check(pool.make(glued, isIDR: true))
        }
        #expect(violation?.rule == .selfDescription)
    }

    @Test func violationsNameAccessUnitRuleUnitAndOffsetInTheStream() throws {
        var checker = StreamShapeChecker(codec: .h264)
        let first = annexB(Self.idr)
        try checker.check(first)
        let violation = #expect(throws: StreamShapeViolation.self) {
            try checker.check(annexB([Sample.aud, Sample.p]))
        }
        #expect(violation?.offset == first.count + 4)
        #expect(
            violation?.description == """
                access unit 1: a NAL unit type that has no place in the stream \
                (access unit delimiter at offset \(first.count + 4))
                """)
    }
}

extension StreamShapeChecker {
    @discardableResult
    mutating func check(
        _ bytes: [UInt8], expectsIDR: Bool? = nil
    ) throws(StreamShapeViolation) -> Bool {
        try check(bytes.span.bytes, expectsIDR: expectsIDR)
    }
}
