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
        /// A unit can't be read.
        case syntax(SyntaxError)
        /// The access unit has no slice.
        case noSlice
        /// The first access unit, or the one after an end of sequence, is not an IDR picture.
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
        /// The slices are not those of exactly one picture.
        case pictureBoundary
        /// The picture does not have the expected number of slices.
        case sliceCount(expected: Int, found: Int)
        /// The access unit's properties contradict its bytes.
        case selfDescription
    }

    /// The rule that is broken.
    public let rule: Rule
    /// The number of the access unit among those checked, from 0.
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
