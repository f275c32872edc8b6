/// Verifies the guaranteed shape on the final bytes, access unit by access unit, before they are written.
///
/// Shares nothing with `StreamShaper` but the elementary readers (scanner, NAL unit header, Exp-Golomb
/// codes): it trusts only the bytes. Allocates nothing. After a violation the checker is of no further use.
///
/// What is verified: 4-byte start codes and nothing between the units; `forbidden_zero_bit` and
/// `nal_ref_idc`; the order SPS, PPS, SEI, slices; parameter sets ahead of each IDR picture, once each,
/// complete, and nowhere else; slices of exactly one picture, whose parameter sets came with the last IDR
/// picture; the first picture being an IDR picture, and where the caller knows it, which others are and how
/// many slices there are.
public struct StreamShapeChecker: Sendable {
    private let slicesPerPicture: Int?
    private var accessUnitCount = 0
    private var byteCount = 0
    private var needsIDR = true
    /// The picture parameter sets that came with the last IDR picture.
    private var pictureSets = IDSet()

    /// Makes a checker at the start of a stream.
    ///
    /// - Parameter slicesPerPicture: the number of slices that every picture must have; `nil` for any.
    public init(slicesPerPicture: Int? = nil) { self.slicesPerPicture = slicesPerPicture }

    /// Verifies the next access unit of the stream, and that it describes itself correctly.
    ///
    /// - Parameter expectsIDR: whether it is to be an IDR picture; `nil` where either is right.
    public mutating func check(
        _ accessUnit: AccessUnit, expectsIDR: Bool? = nil
    ) throws(StreamShapeViolation) {
        let start = byteCount
        try accessUnit.withUnsafeBytes { (buffer) throws(StreamShapeViolation) in
            let picture = try verify(buffer.bytes, expectsIDR: expectsIDR)
            guard picture.isIDR == accessUnit.isIDR, picture.unitCount == accessUnit.units.count,
                accessUnit.units.isLayout(of: buffer.bytes)
            else {
                throw StreamShapeViolation(
                    rule: .selfDescription, accessUnit: accessUnitCount - 1, unitType: nil, offset: start)
            }
        }
    }

    /// Verifies the bytes of the next access unit of the stream.
    ///
    /// - Parameter expectsIDR: whether it is to be an IDR picture; `nil` where either is right.
    /// - Returns: whether it is an IDR picture.
    @discardableResult
    public mutating func check(
        _ bytes: RawSpan, expectsIDR: Bool? = nil
    ) throws(StreamShapeViolation) -> Bool {
        try verify(bytes, expectsIDR: expectsIDR).isIDR
    }

    private mutating func verify(
        _ bytes: RawSpan, expectsIDR: Bool?
    ) throws(StreamShapeViolation) -> Picture {
        do throws(Offence) {
            let picture = try examine(bytes)
            try finish(picture, expectsIDR: expectsIDR)
            accessUnitCount += 1
            byteCount += bytes.byteCount
            return picture
        } catch {
            throw StreamShapeViolation(
                rule: error.rule, accessUnit: accessUnitCount, unitType: error.unitType,
                offset: byteCount + error.offset)
        }
    }
}

extension StreamShapeChecker {
    /// A broken rule, and where in the access unit.
    private struct Offence: Error {
        let rule: StreamShapeViolation.Rule
        let unitType: H264.NALUnitType?
        let offset: Int
    }

    /// Ids from 0 to 255.
    private struct IDSet {
        private var words = SIMD4<UInt64>()

        var isEmpty: Bool { words == SIMD4() }

        func contains(_ id: Int) -> Bool { words[id >> 6] >> UInt64(id & 63) & 1 == 1 }

        /// False where the id was there.
        mutating func insert(_ id: Int) -> Bool {
            defer { words[id >> 6] |= 1 << UInt64(id & 63) }
            return !contains(id)
        }
    }

    /// What has been seen of an access unit.
    private struct Picture {
        var sequenceSets = IDSet()
        var pictureSets = IDSet()
        var place = Place.sequenceSets
        var unitCount = 0
        var sliceCount = 0
        var isIDR = false
        var isReference = false
    }

    /// The places in an access unit, in their order.
    private enum Place: Int {
        case sequenceSets, pictureSets, supplementalEnhancementInformation, slices, endOfSequence, endOfStream

        init?(_ type: H264.NALUnitType) {
            switch type {
            case .sequenceParameterSet: self = .sequenceSets
            case .pictureParameterSet: self = .pictureSets
            case .supplementalEnhancementInformation: self = .supplementalEnhancementInformation
            case .nonIDRSlice, .idrSlice, .fillerData: self = .slices
            case .endOfSequence: self = .endOfSequence
            case .endOfStream: self = .endOfStream
            default: return nil
            }
        }
    }

    /// Reads the access unit from its first byte to its last.
    private func examine(_ bytes: RawSpan) throws(Offence) -> Picture {
        var picture = Picture()
        var scanner = NALUnitScanner()
        var end = 0
        while let unit = scanner.next(in: bytes) {
            let offset = unit.bytes.lowerBound
            guard unit.startCodeLength == 4, unit.startCodeOffset == end else {
                throw Offence(rule: .startCode, unitType: nil, offset: end)
            }
            guard !unit.bytes.isEmpty else { throw Offence(rule: .emptyUnit, unitType: nil, offset: offset) }
            let nalUnit = bytes.extracting(unit.bytes)
            if let rule = rule(brokenBy: nalUnit, in: &picture) {
                throw Offence(
                    rule: rule, unitType: H264.NALUnitHeader(of: nalUnit).nal_unit_type, offset: offset)
            }
            picture.unitCount += 1
            end = unit.bytes.upperBound
        }
        guard end == bytes.byteCount else { throw Offence(rule: .startCode, unitType: nil, offset: end) }
        return picture
    }

    /// The rule that a unit breaks, if any, in an access unit of which `picture` has been seen.
    private func rule(brokenBy nalUnit: RawSpan, in picture: inout Picture) -> StreamShapeViolation.Rule? {
        let header = H264.NALUnitHeader(of: nalUnit)
        guard !header.forbidden_zero_bit else { return .forbiddenZeroBit }
        guard header.isReferenceIndicationValid else { return .referenceIndication }
        guard let place = Place(header.nal_unit_type) else { return .unitType }
        guard place.rawValue >= picture.place.rawValue else { return .unitOrder }
        picture.place = place
        do throws(SyntaxError) {
            switch place {
            case .sequenceSets, .pictureSets: return try rule(brokenByParameterSet: nalUnit, in: &picture)
            case .slices where header.nal_unit_type.isSlice:
                return try rule(brokenBySlice: nalUnit, header, in: &picture)
            case .supplementalEnhancementInformation: return nil
            case .slices, .endOfSequence, .endOfStream: return picture.sliceCount > 0 ? nil : .unitOrder
            }
        } catch {
            return .syntax(error)
        }
    }

    private func rule(
        brokenByParameterSet nalUnit: RawSpan, in picture: inout Picture
    ) throws(SyntaxError) -> StreamShapeViolation.Rule? {
        let ids = try H264.ParameterSetIDs(nalUnit)
        if ids.type == .sequenceParameterSet {
            return picture.sequenceSets.insert(ids.id) ? nil : .parameterSetRepeated
        }
        guard picture.sequenceSets.contains(ids.sequenceParameterSetID) else {
            return .unknownParameterSet(id: ids.sequenceParameterSetID)
        }
        return picture.pictureSets.insert(ids.id) ? nil : .parameterSetRepeated
    }

    private func rule(
        brokenBySlice nalUnit: RawSpan, _ header: H264.NALUnitHeader, in picture: inout Picture
    ) throws(SyntaxError) -> StreamShapeViolation.Rule? {
        let slice = try H264.SliceHeader(nalUnit)
        let isIDR = header.nal_unit_type == .idrSlice
        let isReference = header.nal_ref_idc != 0
        if picture.sliceCount == 0 {
            picture.isIDR = isIDR
            picture.isReference = isReference
            if isIDR, picture.pictureSets.isEmpty { return .parameterSetMissing }
            if !isIDR, !picture.sequenceSets.isEmpty { return .parameterSetWithoutIDR }
            if !isIDR, needsIDR { return .startsWithoutIDR }
        } else if picture.isIDR != isIDR || picture.isReference != isReference {
            return .mixedSlices
        }
        guard (slice.first_mb_in_slice == 0) == (picture.sliceCount == 0) else { return .pictureBoundary }
        let sets = isIDR ? picture.pictureSets : pictureSets
        guard sets.contains(slice.pic_parameter_set_id) else {
            return .unknownParameterSet(id: slice.pic_parameter_set_id)
        }
        picture.sliceCount += 1
        return nil
    }

    /// Verifies the access unit as a whole, and makes its parameter sets those of the pictures to come.
    private mutating func finish(_ picture: Picture, expectsIDR: Bool?) throws(Offence) {
        guard picture.sliceCount > 0 else { throw Offence(rule: .noSlice, unitType: nil, offset: 0) }
        if let expectsIDR, expectsIDR != picture.isIDR {
            throw Offence(rule: expectsIDR ? .idrMissing : .idrUnexpected, unitType: nil, offset: 0)
        }
        if let slicesPerPicture, slicesPerPicture != picture.sliceCount {
            throw Offence(
                rule: .sliceCount(expected: slicesPerPicture, found: picture.sliceCount), unitType: nil,
                offset: 0)
        }
        if picture.isIDR { pictureSets = picture.pictureSets }
        needsIDR = picture.place == .endOfSequence || picture.place == .endOfStream
    }
}

extension [AccessUnit.Unit] {
    /// Whether the units cover the bytes with 4 bytes ahead of each, and their headers are the ones there.
    ///
    /// With as many units as there are start codes, each of 4 bytes, they are then exactly the NAL units.
    fileprivate func isLayout(of bytes: RawSpan) -> Bool {
        var end = 0
        for unit in self {
            guard unit.bytes.lowerBound == end + AccessUnit.startCodeLength, !unit.bytes.isEmpty,
                unit.bytes.upperBound <= bytes.byteCount,
                bytes.unsafeLoadUnaligned(fromByteOffset: end, as: UInt32.self) == UInt32(1).bigEndian,
                unit.header == NALUnitHeader(of: bytes.extracting(unit.bytes), codec: unit.header.codec)
            else { return false }
            end = unit.bytes.upperBound
        }
        return end == bytes.byteCount
    }
}
