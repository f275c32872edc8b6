import Testing
import TestSupport
import CamPlatform

@testable import Bitstream

@Suite struct StreamShaperTests {
    private static let sets = [Sample.sps, Sample.pps]
    private static let idr = sets + [Sample.idr]

    /// A shaper after its first IDR picture.
    private func started() throws -> StreamShaper {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        _ = try shaper.shape(annexB(Self.idr))
        return shaper
    }

    private func rule(_ body: () throws -> Void) -> StreamShapeError.Rule? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StreamShapeError)?.rule
        }
    }

    @Test func aWellShapedStreamPassesUnchanged() throws {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        for packet in [annexB(Self.idr), annexB([Sample.p]), annexB(Self.idr)] {
            #expect(try shaper.shape(packet)?.copy == packet)
        }
    }

    @Test func frameNumberSequenceAndTimeArriveUnchanged() throws {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        let accessUnit = try #require(try shaper.shape(annexB(Self.idr), frameNumber: 41))
        #expect(accessUnit.isIDR)
        #expect(accessUnit.frameNumber == 41)
        #expect(accessUnit.sequence == 1041)
        #expect(accessUnit.timestamp == .start + .milliseconds(41))
        #expect(try shaper.shape(annexB([Sample.p]))?.isIDR == false)
    }

    @Test func shortStartCodesBecomeLong() throws {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        let mixed = annexB(Self.sets) + annexB3([Sample.sei, Sample.idr])
        #expect(try shaper.shape(mixed)?.copy == annexB(Self.sets + [Sample.sei, Sample.idr]))
        #expect(try shaper.shape(annexB3([Sample.p]))?.copy == annexB([Sample.p]))
    }

    @Test func zerosAroundUnitsDisappear() throws {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        let packet = [0, 0, 0] + annexB(Self.sets) + [0, 0, 0, 0] + annexB([Sample.idr]) + [0, 0, 0]
        #expect(try shaper.shape(packet)?.copy == annexB(Self.idr))
    }

    @Test func delimitersAsRadeonsiWritesThemAreTakenOut() throws {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        #expect(try shaper.shape(annexB([Sample.aud] + Self.idr))?.copy == annexB(Self.idr))
        #expect(try shaper.shape(annexB([Sample.audAny, Sample.p]))?.copy == annexB([Sample.p]))
    }

    @Test func seiStaysBetweenSetsAndSlice() throws {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        let expected = annexB(Self.sets + [Sample.sei, Sample.idr])
        #expect(try shaper.shape(annexB(Self.sets + [Sample.sei, Sample.idr]))?.copy == expected)
        #expect(try shaper.shape(annexB([Sample.sei] + Self.idr))?.copy == expected)
        #expect(try shaper.shape(annexB([Sample.sps, Sample.sei, Sample.pps, Sample.idr]))?.copy == expected)
        #expect(try shaper.shape(annexB([Sample.sei, Sample.p]))?.copy == annexB([Sample.sei, Sample.p]))
    }

    @Test func missingSetsAreInserted() throws {
        var shaper = try started()
        #expect(try shaper.shape(annexB([Sample.idr]))?.copy == annexB(Self.idr))
        #expect(
            try shaper.shape(annexB([Sample.aud, Sample.sei, Sample.idr]))?.copy
                == annexB(Self.sets + [Sample.sei, Sample.idr]))
        #expect(try shaper.shape(annexB([Sample.pps, Sample.idr]))?.copy == annexB(Self.idr))
    }

    @Test func setsFromExtradataAreInserted() throws {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        shaper.prime(parameterSets: try ParameterSets(annexB: annexB(Self.sets)))
        #expect(try shaper.shape(annexB([Sample.idr]))?.copy == annexB(Self.idr))
    }

    @Test func setsInAPacketOfTheirOwnCountForTheNextPicture() throws {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        #expect(try shaper.shape(annexB(Self.sets)) == nil)
        #expect(try shaper.shape(annexB([Sample.idr]))?.copy == annexB(Self.idr))
        #expect(try shaper.shape(annexB([Sample.aud])) == nil)
    }

    @Test func repeatedSetsAreWrittenOnce() throws {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        #expect(try shaper.shape(annexB(Self.sets + Self.sets + [Sample.idr]))?.copy == annexB(Self.idr))
        #expect(try shaper.shape(annexB([Sample.pps, Sample.sps, Sample.idr]))?.copy == annexB(Self.idr))
    }

    @Test func setsRepeatedAwayFromAnIDRAreRemoved() throws {
        var shaper = try started()
        #expect(try shaper.shape(annexB(Self.sets + [Sample.p]))?.copy == annexB([Sample.p]))
        #expect(try shaper.shape(annexB([Sample.p] + Self.sets))?.copy == annexB([Sample.p]))
    }

    @Test func setsChangeAtAnIDR() throws {
        var shaper = try started()
        let changed = [Sample.changedSPS, Sample.pps, Sample.idr]
        #expect(try shaper.shape(annexB(changed))?.copy == annexB(changed))
        #expect(try shaper.shape(annexB([Sample.idr]))?.copy == annexB(changed))
        #expect(shaper.parameterSets.sequence.map(\.nalUnit) == [Sample.changedSPS])
    }

    @Test func setsThatChangeAwayFromAnIDRAreAnError() throws {
        var shaper = try started()
        #expect(
            rule { _ = try shaper.shape(annexB([Sample.changedSPS, Sample.p])) }
                == .parameterSetsChangedWithoutIDR)
        #expect(rule { _ = try shaper.shape(annexB([Sample.p])) } == .parameterSetsChangedWithoutIDR)
        #expect(
            try shaper.shape(annexB([Sample.idr]))?.nalUnits.first == Sample.changedSPS, "an IDR fixes it")
    }

    @Test func setsBehindTheSlicesBelongToTheNextPicture() throws {
        var shaper = try started()
        #expect(try shaper.shape(annexB([Sample.p, Sample.changedSPS]))?.copy == annexB([Sample.p]))
        #expect(rule { _ = try shaper.shape(annexB([Sample.p])) } == .parameterSetsChangedWithoutIDR)
    }

    @Test func everySetInForceIsWritten() throws {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        let units = [Sample.sps, pps(0, sequence: 0), pps(1, sequence: 0), Sample.idr]
        #expect(try shaper.shape(annexB([units[2], units[0], units[1], units[3]]))?.copy == annexB(units))
    }

    @Test func severalSlicesStayInOrder() throws {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        let packet = annexB(Self.sets) + annexB3(Sample.idrSlices)
        #expect(try shaper.shape(packet)?.copy == annexB(Self.sets + Sample.idrSlices))
    }

    @Test func fillerAndEndOfSequenceStayBehindTheSlices() throws {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        let tail = [Sample.filler, Sample.endOfSequence]
        #expect(try shaper.shape(annexB(Self.idr + tail))?.copy == annexB(Self.idr + tail))
        #expect(try shaper.shape(annexB([Sample.filler] + Self.idr))?.copy == annexB(Self.idr))
    }

    @Test func whatDecodersMustDiscardIsTakenOut() throws {
        var shaper = try started()
        for type in [UInt8](13...31) + [0] {
            let unit: [UInt8] = [0x60 | type, 0x80]
            #expect(try shaper.shape(annexB([unit, Sample.p, unit]))?.copy == annexB([Sample.p]))
        }
    }

    @Test func emulationPreventionIsUntouched() throws {
        var shaper = try started()
        let slice = hex("41 9a20 000003 000003 01 000003")
        #expect(try shaper.shape(annexB3([slice]))?.copy == annexB([slice]))
    }

    @Test func theFirstPictureMustBeAnIDR() throws {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        #expect(rule { _ = try shaper.shape(annexB([Sample.p])) } == .startsWithoutIDR)
        #expect(rule { _ = try shaper.shape(annexB(Self.sets + [Sample.p])) } == .startsWithoutIDR)
        #expect(try shaper.shape(annexB(Self.idr)) != nil)
        shaper.expectIDR()
        #expect(rule { _ = try shaper.shape(annexB([Sample.p])) } == .startsWithoutIDR)
    }

    @Test func anIDRWithoutKnownSetsIsAnError() throws {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        #expect(rule { _ = try shaper.shape(annexB([Sample.idr])) } == .missingParameterSets)
        #expect(rule { _ = try shaper.shape(annexB([Sample.sps, Sample.idr])) } == .missingParameterSets)
        #expect(
            rule { _ = try shaper.shape(annexB([pps(1, sequence: 9), Sample.pps, Sample.idr])) }
                == .missingParameterSets)
    }

    @Test(arguments: [
        ("", StreamShapeError.Rule.notAnnexB), ("0000", .notAnnexB), ("0000000e 65888400", .notAnnexB),
        ("ff 000001 41 9a", .notAnnexB), ("000001 000001 41", .emptyUnit),
        ("000001 41 9a 000001", .emptyUnit),
        ("000001 c1 9a", .forbiddenZeroBit), ("000001 42 9a", .unsupportedUnit),
        ("000001 41 9a 000001 65 88", .mixedSlices), ("000001 41 9a 000001 06 05", .unitAfterSlices),
        (
            "000001 67 42 000001 41 9a",
            .malformedParameterSet(
                SyntaxError(
                    element: "profile_idc, constraint flags, level_idc", reason: .truncated, bitOffset: 16))
        ),
    ])
    func packetsBeyondMendingAreErrors(_ digits: String, _ expected: StreamShapeError.Rule) throws {
        var shaper = try started()
        #expect(rule { _ = try shaper.shape(hex(digits)) } == expected)
        #expect(try shaper.shape(annexB([Sample.idr]))?.copy == annexB(Self.idr), "the next one is unharmed")
    }

    @Test func theNumberOfUnitsIsBounded() throws {
        var shaper = try started()
        let packet = annexB3([[UInt8]](repeating: [0x41, 0x9A], count: StreamShaper.maximumUnitCount + 1))
        #expect(rule { _ = try shaper.shape(packet) } == .tooManyUnits(limit: StreamShaper.maximumUnitCount))
    }

    @Test func errorsNameFrameRuleUnitAndOffset() throws {
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        let error = #expect(throws: StreamShapeError.self) {
            try shaper.shape(annexB([Sample.aud, Sample.p]), frameNumber: 12)
        }
        #expect(
            error?.description == """
                frame 12: the stream does not start with an IDR picture \
                (coded slice of a non-IDR picture at offset 10 of the encoder's packet)
                """)
    }

    @Test func amendedSetsAreWrittenAndKept() throws {
        let calls = Counter()
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264)) { original in
            calls.count += 1
            var amended = original
            try amended.insert(Sample.changedSPS)
            return amended
        }
        let expected = annexB([Sample.changedSPS, Sample.pps, Sample.idr])
        #expect(try shaper.shape(annexB(Self.idr))?.copy == expected)
        #expect(try shaper.shape(annexB(Self.idr))?.copy == expected)
        #expect(try shaper.shape(annexB([Sample.idr]))?.copy == expected)
        #expect(try shaper.shape(annexB(Self.sets + [Sample.p]))?.copy == annexB([Sample.p]))
        #expect(calls.count == 1)
        _ = try shaper.shape(annexB([Sample.sps, pps(0, sequence: 0), Sample.idr]))
        #expect(calls.count == 2)
    }

    @Test func amendmentsThatFailOrLoseSetsAreErrors() {
        struct Failure: Error, CustomStringConvertible { let description = "no such filter" }
        var failing = StreamShaper(pool: AccessUnitPool(codec: .h264)) { _ in throw Failure() }
        #expect(rule { _ = try failing.shape(annexB(Self.idr)) } == .amendmentFailed("no such filter"))
        var losing = StreamShaper(pool: AccessUnitPool(codec: .h264)) { _ in ParameterSets(codec: .h264) }
        #expect(rule { _ = try losing.shape(annexB(Self.idr)) } == .amendmentChangedIDs)
    }

    @Test func accessUnitsAreUsedAgain() throws {
        var shaper = try started()
        var identities: Set<ObjectIdentifier> = []
        for number in 0..<100 {
            let packet = annexB(number % 10 == 0 ? Self.idr : [Sample.p])
            identities.insert(ObjectIdentifier(try #require(try shaper.shape(packet))))
        }
        #expect(identities.count == 1)
    }

    @Test func damagedPacketsAreHarmless() {
        var generator = SeededGenerator(seed: 5)
        let original =
            annexB([Sample.aud] + Self.sets) + annexB3([Sample.sei] + Sample.idrSlices)
            + annexB([Sample.filler])
        var shaper = StreamShaper(pool: AccessUnitPool(codec: .h264))
        var checker = StreamShapeChecker(codec: .h264)
        var (shaped, sound) = (0, 0)
        for _ in 0..<20_000 {
            var packet = original
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                let index = Int.random(in: 0..<packet.count, using: &generator)
                packet[index] = [0, 1, UInt8.random(in: 0...255, using: &generator)].randomElement(
                    using: &generator)!
            }
            packet.removeLast(Int.random(in: 0...packet.count, using: &generator))
            guard let accessUnit = try? shaper.shape(packet) else { continue }
            shaped += 1
            let units = scan(accessUnit.copy)
            #expect(!units.isEmpty && units.allSatisfy { $0.startCodeLength == 4 })
            do {
                try checker.check(accessUnit)
                sound += 1
            } catch { checker = StreamShapeChecker(codec: .h264) }
        }
        #expect(shaped > 100)
        #expect(sound > 100)
    }
}

private final class Counter {
    var count = 0
}

extension StreamShaper {
    /// Shapes a packet, whose sequence number and time follow from its frame number.
    mutating func shape(_ packet: [UInt8], frameNumber: Int = 0) throws(StreamShapeError) -> AccessUnit? {
        try shape(
            packet.span.bytes, frameNumber: frameNumber, sequence: UInt32(1000 + frameNumber),
            timestamp: .start + .milliseconds(frameNumber))
    }
}
