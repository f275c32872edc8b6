import Testing

@testable import Bitstream

/// The guaranteed shape of H.265: what the shaper makes of packets, and what the checker accepts.
@Suite struct StreamShapeH265Tests {
    // x265, 64x64 at 25 frames a second; the slices are cut short.
    private static let vps = hex("40010c01ffff0408000003009e0800000300001eba0240")
    private static let sps = hex(
        "4201010408000003009e0800000300001e90041020b2dd25261780b7020200040000030004000003006420")
    private static let pps = hex("4401c07318300890")
    private static let idr = hex("2801ac76a10fcc97ffff4da4")
    private static let trail = hex("0201d0097883b02690d1eb67")
    private static let sets = [vps, sps, pps]
    private static let prefixSEI = hex("4e01 0101 80"), suffixSEI = hex("5001 0101 80")
    private static let delimiter = hex("4601 50"), filler = hex("4c01 ff80"), endOfSequence = hex("4801")

    private static let shaped = annexB(sets + [idr])

    private func shaper() -> StreamShaper { StreamShaper(pool: AccessUnitPool(codec: .hevc)) }

    /// The bytes that the last of these packets becomes.
    private func shape(_ packets: [UInt8]...) throws -> [UInt8]? {
        var shaper = shaper()
        var last: [UInt8]?
        for packet in packets { last = try shaper.shape(packet)?.copy }
        return last
    }

    private func rule(shaping packets: [UInt8]...) -> StreamShapeError.Rule? {
        var shaper = shaper()
        do throws(StreamShapeError) {
            for packet in packets { _ = try shaper.shape(packet) }
            return nil
        } catch {
            return error.rule
        }
    }

    /// The rule that the last of these access units breaks; the others are correct.
    private func rule(checking accessUnits: [UInt8]..., slicesPerPicture: Int? = nil) throws
        -> StreamShapeViolation.Rule?
    {
        var checker = StreamShapeChecker(codec: .hevc, slicesPerPicture: slicesPerPicture)
        for accessUnit in accessUnits.dropLast() { try checker.check(accessUnit) }
        do {
            try checker.check(accessUnits[accessUnits.count - 1])
            return nil
        } catch {
            return error.rule
        }
    }

    // MARK: The shaper

    @Test func anIDRComesBehindItsThreeSets() throws {
        #expect(try shape(annexB3(Self.sets + [Self.idr])) == Self.shaped)
        #expect(try shape(annexB3([Self.pps, Self.sps, Self.vps, Self.idr])) == Self.shaped, "in order")
        #expect(try shape(Self.shaped, annexB([Self.trail]), annexB([Self.idr])) == Self.shaped, "cached")
    }

    @Test func setsAheadOfOtherPicturesAreTakenOut() throws {
        #expect(try shape(Self.shaped, annexB(Self.sets + [Self.trail])) == annexB([Self.trail]))
    }

    @Test func delimitersAndFurtherLayersAreTakenOut() throws {
        let layer = hex("0209 d0"), sliceOfLayer = hex("280b ac")
        #expect(
            try shape(annexB([Self.delimiter] + Self.sets + [Self.idr, layer, sliceOfLayer])) == Self.shaped)
    }

    @Test func suffixesStayBehindTheSlices() throws {
        let tail = [Self.suffixSEI, Self.filler, Self.endOfSequence]
        #expect(
            try shape(annexB(Self.sets + [Self.prefixSEI, Self.idr] + tail))
                == annexB(Self.sets + [Self.prefixSEI, Self.idr] + tail))
        #expect(rule(shaping: annexB(Self.sets + [Self.idr, Self.prefixSEI])) == .unitAfterSlices)
    }

    @Test func theStreamBeginsWithAnIDRAndNotWithACRA() {
        let cra = hex("2a01 ac76")
        #expect(rule(shaping: annexB(Self.sets + [cra])) == .startsWithoutIDR)
        #expect(rule(shaping: annexB(Self.sets + [Self.trail])) == .startsWithoutIDR)
    }

    @Test func everySetIsNeeded() {
        for missing in Self.sets.indices {
            var sets = Self.sets
            sets.remove(at: missing)
            #expect(rule(shaping: annexB(sets + [Self.idr])) == .missingParameterSets)
        }
    }

    @Test func aUnitIsAtLeastItsHeader() {
        #expect(rule(shaping: annexB(Self.sets + [[0x28]])) == .emptyUnit)
    }

    // MARK: The checker

    @Test func theGuaranteedShapePasses() throws {
        #expect(
            try rule(checking: Self.shaped, annexB([Self.trail]), annexB([Self.prefixSEI, Self.trail])) == nil
        )
        #expect(
            try rule(checking: annexB(Self.sets + [Self.prefixSEI, Self.idr, Self.suffixSEI, Self.filler]))
                == nil)
    }

    @Test func setsComeInOrderOnceAndEachRefersToOneThatIsThere() throws {
        #expect(
            try rule(checking: annexB([Self.sps, Self.vps, Self.pps, Self.idr]))
                == .unknownParameterSet(id: 0))
        #expect(
            try rule(checking: annexB([Self.vps, Self.pps, Self.sps, Self.idr]))
                == .unknownParameterSet(id: 0))
        #expect(
            try rule(checking: annexB([Self.vps, Self.sps, Self.pps, Self.pps, Self.idr]))
                == .parameterSetRepeated)
        #expect(try rule(checking: annexB([Self.vps, Self.idr])) == .parameterSetMissing)
        #expect(try rule(checking: Self.shaped, annexB(Self.sets + [Self.trail])) == .parameterSetWithoutIDR)
    }

    @Test func whatHasNoPlaceIsRefused() throws {
        #expect(try rule(checking: annexB([Self.delimiter]) + Self.shaped) == .unitType)
        #expect(try rule(checking: annexB(Self.sets + [Self.idr, hex("0209 d0")])) == .unitType, "a layer")
        #expect(try rule(checking: annexB(Self.sets + [Self.idr, Self.prefixSEI])) == .unitOrder)
        #expect(try rule(checking: annexB(Self.sets + [Self.suffixSEI, Self.idr])) == .unitOrder)
    }

    @Test func temporalIdentifiersFollow7_4_2_2() throws {
        let idrOfSubLayer = hex("2802ac76"), without = hex("2800ac76")
        #expect(try rule(checking: annexB(Self.sets + [idrOfSubLayer])) == .temporalID)
        #expect(try rule(checking: annexB(Self.sets + [without])) == .temporalID)
        #expect(try rule(checking: Self.shaped, annexB([hex("0202 d009")])) == nil, "a picture may have one")
    }

    @Test func slicesAreThoseOfOnePicture() throws {
        let idr2 = hex("2801 2c76"), radl = hex("2601 2c76")
        #expect(try rule(checking: annexB(Self.sets + [Self.idr, idr2])) == nil, "another segment")
        #expect(try rule(checking: annexB(Self.sets + [Self.idr, Self.idr])) == .pictureBoundary)
        #expect(try rule(checking: annexB(Self.sets + [idr2])) == .pictureBoundary)
        #expect(try rule(checking: annexB(Self.sets + [Self.idr, radl])) == .mixedSlices)
        #expect(
            try rule(checking: annexB(Self.sets + [Self.idr, idr2]), slicesPerPicture: 1)
                == .sliceCount(expected: 1, found: 2))
    }

    @Test func keyframesAreIDRAndNeitherCRANorBLA() throws {
        for type in 16...21 where type < 19 || type > 20 {
            let slice = [UInt8(type << 1), 1, 0xAC, 0x76]
            #expect(try rule(checking: Self.shaped, annexB([slice])) == .openRandomAccess)
        }
    }

    @Test func decodingBeginsAtAnIDR() throws {
        #expect(try rule(checking: annexB([Self.trail])) == .startsWithoutIDR)
        #expect(
            try rule(checking: annexB(Self.sets + [Self.idr, Self.endOfSequence]), annexB([Self.trail]))
                == .startsWithoutIDR)
    }
}
