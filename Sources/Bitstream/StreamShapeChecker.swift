/// Verifies the guaranteed shape on the final bytes, access unit by access unit, before they are written.
///
/// The checker trusts only the bytes: it shares nothing with `StreamShaper` but the elementary readers
/// (scanner, NAL unit header, Exp-Golomb codes). It allocates nothing, and cannot be used after a
/// violation.
///
/// The checker verifies: 4-byte start codes and nothing between the units; `forbidden_zero_bit`, H.264's
/// `nal_ref_idc` and H.265's temporal id; the order VPS, SPS, PPS, SEI, slices; parameter sets before each
/// IDR picture, once each, complete, and nowhere else; slices of exactly one picture, whose parameter sets
/// came with the last IDR picture; no CRA or BLA picture; the first picture is an IDR picture; and if the
/// caller specifies them, the other IDR pictures and the number of slices.
public struct StreamShapeChecker: Sendable {
    private let codec: Codec
    private let slicesPerPicture: Int?
    private var accessUnitCount = 0
    private var byteCount = 0
    private var needsIDR = true
    /// The picture parameter sets that came with the last IDR picture.
    private var pictureSets = IDSet()

    /// Creates a checker at the start of a stream.
    ///
    /// - Parameters:
    ///   - codec: the stream's coding standard.
    ///   - slicesPerPicture: the number of slices that every picture must have; `nil` for any.
    public init(codec: Codec, slicesPerPicture: Int? = nil) {
        self.codec = codec
        self.slicesPerPicture = slicesPerPicture
    }

    /// Verifies the next access unit of the stream, and that its properties match its bytes.
    ///
    /// - Parameter expectsIDR: whether the picture must be an IDR picture; `nil` if both are valid.
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
                    rule: .selfDescription, accessUnit: accessUnitCount - 1, unit: nil, offset: start)
            }
        }
    }

    /// Verifies the bytes of the next access unit of the stream.
    ///
    /// - Parameter expectsIDR: whether the picture must be an IDR picture; `nil` if both are valid. -
    ///   Returns: whether the picture is an IDR picture.
    @discardableResult
    public mutating func check(
        _ bytes: RawSpan, expectsIDR: Bool? = nil
    ) throws(StreamShapeViolation) -> Bool {
        try verify(bytes, expectsIDR: expectsIDR).isIDR
    }

    private mutating func verify(
        _ bytes: RawSpan, expectsIDR: Bool?
    ) throws(StreamShapeViolation) -> Picture {
        do throws(Violation) {
            let picture = try examine(bytes)
            try finish(picture, expectsIDR: expectsIDR)
            accessUnitCount += 1
            byteCount += bytes.byteCount
            return picture
        } catch {
            throw StreamShapeViolation(
                rule: error.rule, accessUnit: accessUnitCount, unit: error.unit,
                offset: byteCount + error.offset)
        }
    }
}

extension StreamShapeChecker {
    /// A broken rule, and its position in the access unit.
    private struct Violation: Error {
        let rule: StreamShapeViolation.Rule
        let unit: NALUnitHeader?
        let offset: Int
    }

    /// Ids from 0 to 255.
    private struct IDSet {
        private var words = SIMD4<UInt64>()

        var isEmpty: Bool { words == SIMD4() }

        func contains(_ id: Int) -> Bool { words[id >> 6] >> UInt64(id & 63) & 1 == 1 }

        /// Returns false if the id was already present.
        mutating func insert(_ id: Int) -> Bool {
            defer { words[id >> 6] |= 1 << UInt64(id & 63) }
            return !contains(id)
        }
    }

    /// The part of an access unit that has been read.
    private struct Picture {
        var videoSets = IDSet()
        var sequenceSets = IDSet()
        var pictureSets = IDSet()
        var place = Place.videoSets
        var unitCount = 0
        var sliceCount = 0
        var firstSlice: NALUnitHeader?

        var isIDR: Bool { firstSlice?.isIDR == true }

        /// Returns false if the set was already present.
        mutating func insert(_ set: ParameterSetIDs) -> Bool {
            switch set.kind {
            case .video: videoSets.insert(set.id)
            case .sequence: sequenceSets.insert(set.id)
            case .picture: pictureSets.insert(set.id)
            }
        }

        /// The sets of the kind that a set of `kind` refers to.
        func setsReferred(by kind: ParameterSetIDs.Kind) -> IDSet {
            kind == .picture ? sequenceSets : videoSets
        }
    }

    /// The places in an access unit, in their order.
    private enum Place: Int {
        case videoSets, sequenceSets, pictureSets, supplementalEnhancementInformation, slices, endOfSequence
        case endOfStream

        init?(_ header: NALUnitHeader) {
            switch header {
            case .h264(let header): self.init(header.nal_unit_type)
            case .hevc(let header) where header.nuh_layer_id == 0: self.init(header.nal_unit_type)
            case .hevc: return nil
            }
        }

        private init?(_ type: H264.NALUnitType) {
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

        private init?(_ type: H265.NALUnitType) {
            switch type {
            case .videoParameterSet: self = .videoSets
            case .sequenceParameterSet: self = .sequenceSets
            case .pictureParameterSet: self = .pictureSets
            case .prefixSEI: self = .supplementalEnhancementInformation
            case .suffixSEI, .fillerData: self = .slices
            case .endOfSequence: self = .endOfSequence
            case .endOfBitstream: self = .endOfStream
            default:
                guard type.isSliceSegment else { return nil }
                self = .slices
            }
        }
    }

    /// Reads the access unit from its first byte to its last.
    private func examine(_ bytes: RawSpan) throws(Violation) -> Picture {
        var picture = Picture()
        var scanner = NALUnitScanner()
        var end = 0
        while let unit = scanner.next(in: bytes) {
            let offset = unit.bytes.lowerBound
            guard unit.startCodeLength == 4, unit.startCodeOffset == end else {
                throw Violation(rule: .startCode, unit: nil, offset: end)
            }
            let nalUnit = bytes.extracting(unit.bytes)
            guard let header = NALUnitHeader(of: nalUnit, codec: codec) else {
                throw Violation(rule: .emptyUnit, unit: nil, offset: offset)
            }
            if let rule = rule(brokenBy: nalUnit, header, in: &picture) {
                throw Violation(rule: rule, unit: header, offset: offset)
            }
            picture.unitCount += 1
            end = unit.bytes.upperBound
        }
        guard end == bytes.byteCount else { throw Violation(rule: .startCode, unit: nil, offset: end) }
        return picture
    }

    /// The rule that a unit breaks, if any, after the part of its access unit in `picture`.
    private func rule(
        brokenBy nalUnit: RawSpan, _ header: NALUnitHeader, in picture: inout Picture
    ) -> StreamShapeViolation.Rule? {
        guard !header.forbidden_zero_bit else { return .forbiddenZeroBit }
        if let rule = header.brokenRule { return rule }
        guard let place = Place(header) else { return .unitType }
        guard place.rawValue >= picture.place.rawValue else { return .unitOrder }
        picture.place = place
        do throws(SyntaxError) {
            switch place {
            case .videoSets, .sequenceSets, .pictureSets:
                return try rule(brokenByParameterSet: nalUnit, in: &picture)
            case .slices where header.isSlice:
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
        let set = try ParameterSetIDs(nalUnit, codec: codec)
        if let referred = set.referredID, !picture.setsReferred(by: set.kind).contains(referred) {
            return .unknownParameterSet(id: referred)
        }
        return picture.insert(set) ? nil : .parameterSetRepeated
    }

    private func rule(
        brokenBySlice nalUnit: RawSpan, _ header: NALUnitHeader, in picture: inout Picture
    ) throws(SyntaxError) -> StreamShapeViolation.Rule? {
        if header.isOpenRandomAccess { return .openRandomAccess }
        let slice = try SliceStart(nalUnit, codec: codec)
        if let firstSlice = picture.firstSlice {
            guard header.canShareAPicture(with: firstSlice) else { return .mixedSlices }
        } else {
            picture.firstSlice = header
            let hasSets = !picture.videoSets.isEmpty || !picture.sequenceSets.isEmpty
            if header.isIDR, picture.pictureSets.isEmpty { return .parameterSetMissing }
            if !header.isIDR, hasSets { return .parameterSetWithoutIDR }
            if !header.isIDR, needsIDR { return .startsWithoutIDR }
        }
        guard slice.isFirst == (picture.sliceCount == 0) else { return .pictureBoundary }
        let sets = header.isIDR ? picture.pictureSets : pictureSets
        guard sets.contains(slice.pictureParameterSetID) else {
            return .unknownParameterSet(id: slice.pictureParameterSetID)
        }
        picture.sliceCount += 1
        return nil
    }

    /// Verifies the whole access unit, and activates its parameter sets for the following pictures.
    private mutating func finish(_ picture: Picture, expectsIDR: Bool?) throws(Violation) {
        guard picture.sliceCount > 0 else { throw Violation(rule: .noSlice, unit: nil, offset: 0) }
        if let expectsIDR, expectsIDR != picture.isIDR {
            throw Violation(rule: expectsIDR ? .idrMissing : .idrUnexpected, unit: nil, offset: 0)
        }
        if let slicesPerPicture, slicesPerPicture != picture.sliceCount {
            throw Violation(
                rule: .sliceCount(expected: slicesPerPicture, found: picture.sliceCount), unit: nil,
                offset: 0)
        }
        if picture.isIDR { pictureSets = picture.pictureSets }
        needsIDR = picture.place == .endOfSequence || picture.place == .endOfStream
    }
}

extension [AccessUnit.Unit] {
    /// Whether the units cover the bytes, each after a start code of 4 bytes, and have the headers in the
    /// bytes.
    ///
    /// If the list has one unit for each start code, it then lists exactly the NAL units.
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

extension NALUnitHeader {
    /// The rule that the header breaks, regardless of other units.
    fileprivate var brokenRule: StreamShapeViolation.Rule? {
        switch self {
        case .h264(let header): header.isReferenceIndicationValid ? nil : .referenceIndication
        case .hevc(let header): header.isTemporalIDValid ? nil : .temporalID
        }
    }

    /// Whether decoding may begin with the slice's picture although it is not an IDR picture: CRA and BLA.
    fileprivate var isOpenRandomAccess: Bool {
        guard case .hevc(let header) = self else { return false }
        return header.nal_unit_type.isIntraRandomAccessPoint && !header.nal_unit_type.isIDR
    }

    /// Whether slices with these headers can belong to one picture (H.264 7.4.1.2.4, H.265 7.4.2.2).
    fileprivate func canShareAPicture(with other: NALUnitHeader) -> Bool {
        switch (self, other) {
        case (.h264(let one), .h264(let other)):
            isIDR == NALUnitHeader.h264(other).isIDR && (one.nal_ref_idc != 0) == (other.nal_ref_idc != 0)
        default: self == other
        }
    }
}

// MARK: - Slices

/// The position of a slice, from its first elements.
struct SliceStart {
    /// Whether the picture begins here.
    let isFirst: Bool
    let pictureParameterSetID: Int

    init(_ nalUnit: RawSpan, codec: Codec) throws(SyntaxError) {
        switch codec {
        case .h264:
            let slice = try H264.SliceHeader(nalUnit)
            isFirst = slice.first_mb_in_slice == 0
            pictureParameterSetID = slice.pic_parameter_set_id
        case .hevc:
            let slice = try H265.SliceHeader(nalUnit)
            isFirst = slice.first_slice_segment_in_pic_flag
            pictureParameterSetID = slice.slice_pic_parameter_set_id
        }
    }
}

// MARK: - Violations

/// A finished access unit that breaks the guaranteed shape: a bug in camrec, not bad input.
public struct StreamShapeViolation: Error, Equatable, Sendable, CustomStringConvertible {
    /// The rule that is broken.
    public enum Rule: Equatable, Sendable {
        /// A NAL unit does not follow a start code of exactly 4 bytes, or zeros follow one.
        case startCode
        /// A NAL unit is shorter than its header.
        case emptyUnit
        /// `forbidden_zero_bit` is set.
        case forbiddenZeroBit
        /// `nal_ref_idc` has a value that 7.4.1 does not allow.
        case referenceIndication
        /// `nuh_temporal_id_plus1` has a value that H.265 7.4.2.2 does not allow.
        case temporalID
        /// A NAL unit type, or a layer, that the shape does not allow.
        case unitType
        /// A unit is in the wrong place: the order is VPS, SPS, PPS, SEI, slices and filler data, end of
        /// sequence.
        case unitOrder
        /// A unit with invalid syntax.
        case syntax(SyntaxError)
        /// The access unit has no slice.
        case noSlice
        /// The first access unit of the stream or after an end of sequence is not an IDR picture.
        case startsWithoutIDR
        /// A CRA or BLA picture: H.265's keyframes must be IDR pictures.
        case openRandomAccess
        /// An IDR picture was due.
        case idrMissing
        /// An IDR picture was not due.
        case idrUnexpected
        /// An IDR picture without parameter sets before it.
        case parameterSetMissing
        /// A parameter set appears twice.
        case parameterSetRepeated
        /// A parameter set before a picture that is not an IDR picture.
        case parameterSetWithoutIDR
        /// A reference to a parameter set that did not come with the last IDR picture.
        case unknownParameterSet(id: Int)
        /// Slices of an IDR picture and others together, or of reference and other pictures.
        case mixedSlices
        /// The slices do not belong to exactly one picture.
        case pictureBoundary
        /// The picture does not have the expected number of slices.
        case sliceCount(expected: Int, found: Int)
        /// The access unit's properties contradict its bytes.
        case selfDescription
    }

    /// The rule that is broken.
    public let rule: Rule
    /// The number of the access unit since the checker's start, from 0.
    public let accessUnit: Int
    /// The header of the offending NAL unit, if there is one.
    public let unit: NALUnitHeader?
    /// Position of the violation in the stream, in bytes from the start of the first access unit checked.
    public let offset: Int

    /// One line: the access unit, the rule, the unit and its offset.
    public var description: String {
        let unit = unit.map { "\($0.content) at offset \(offset)" } ?? "offset \(offset)"
        return "access unit \(accessUnit): \(rule) (\(unit))"
    }
}

extension StreamShapeViolation.Rule: CustomStringConvertible {
    /// The rule in words.
    public var description: String {
        switch self {
        case .startCode: "a NAL unit does not follow a start code of exactly 4 bytes"
        case .emptyUnit: "a NAL unit is shorter than its header"
        case .forbiddenZeroBit: "forbidden_zero_bit is set"
        case .referenceIndication: "nal_ref_idc has a value that is not allowed there"
        case .unitType: "a NAL unit type that has no place in the stream"
        case .temporalID: "nuh_temporal_id_plus1 has a value that is not allowed there"
        case .unitOrder: "a unit in the wrong place; the order is VPS, SPS, PPS, SEI, slices, end of sequence"
        case .syntax(let error): "a unit is malformed: \(error)"
        case .noSlice: "there is no slice"
        case .startsWithoutIDR: "decoding must begin here, but this is not an IDR picture"
        case .openRandomAccess: "a CRA or BLA picture where keyframes are IDR pictures"
        case .idrMissing: "an IDR picture was due here"
        case .idrUnexpected: "an IDR picture was not due here"
        case .parameterSetMissing: "an IDR picture without its parameter sets"
        case .parameterSetRepeated: "a parameter set appears twice"
        case .parameterSetWithoutIDR: "a parameter set without an IDR picture"
        case .unknownParameterSet(let id): "parameter set \(id) did not come with the last IDR picture"
        case .mixedSlices: "slices of pictures of different kinds"
        case .pictureBoundary: "the slices are not those of exactly one picture"
        case .sliceCount(let expected, let found): "\(found) slices instead of \(expected)"
        case .selfDescription: "the access unit's list of units or IDR flag disagrees with its bytes"
        }
    }
}
