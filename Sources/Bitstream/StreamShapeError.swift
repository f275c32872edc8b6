/// Why an encoder's packet cannot be made into an access unit of the guaranteed shape.
public struct StreamShapeError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The rule that the packet breaks.
    public enum Rule: Equatable, Sendable {
        /// Bytes other than zeros before the first start code, or no start code at all: not Annex B.
        case notAnnexB
        /// A NAL unit that is shorter than its header.
        case emptyUnit
        /// `forbidden_zero_bit` is set: the unit is damaged.
        case forbiddenZeroBit
        /// More NAL units than any picture has; the limit bounds the memory that a packet can claim.
        case tooManyUnits(limit: Int)
        /// A NAL unit type that none of the supported profiles has (data partitioning).
        case unsupportedUnit
        /// Slices of IDR and other pictures in one packet.
        case mixedSlices
        /// A unit after the slices that belongs before them.
        case unitAfterSlices
        /// The first picture, or the first after a restart, is not an IDR picture.
        case startsWithoutIDR
        /// An IDR picture for which no complete parameter sets are known.
        case missingParameterSets
        /// A parameter set changed before a picture that is not an IDR picture.
        case parameterSetsChangedWithoutIDR
        /// A parameter set that can't be read.
        case malformedParameterSet(SyntaxError)
        /// Amending the parameter sets failed, with the reason given.
        case amendmentFailed(String)
        /// Amending the parameter sets removed or added some.
        case amendmentChangedIDs
    }

    /// The rule that is broken.
    public let rule: Rule
    /// The picture's position in the recording.
    public let frameNumber: Int
    /// The header of the offending NAL unit, if there is one.
    public let unit: NALUnitHeader?
    /// Position of the offending unit's header in the packet, in bytes; 0 if no unit is to blame.
    public let offset: Int

    /// One line: the frame, the rule, the unit and its offset.
    public var description: String {
        let unit = unit.map { "\($0.content) at offset \(offset)" } ?? "offset \(offset)"
        return "frame \(frameNumber): \(rule) (\(unit) of the encoder's packet)"
    }
}

extension StreamShapeError.Rule: CustomStringConvertible {
    /// The rule in words.
    public var description: String {
        switch self {
        case .notAnnexB: "the packet does not begin with a start code"
        case .emptyUnit: "a NAL unit is shorter than its header"
        case .forbiddenZeroBit: "forbidden_zero_bit is set"
        case .tooManyUnits(let limit): "the packet has more than \(limit) NAL units"
        case .unsupportedUnit: "data partitioning is not supported"
        case .mixedSlices: "slices of an IDR picture and of another picture are in one packet"
        case .unitAfterSlices: "a unit that belongs before the slices comes after one"
        case .startsWithoutIDR: "the stream does not start with an IDR picture"
        case .missingParameterSets: "an IDR picture came before any complete parameter sets"
        case .parameterSetsChangedWithoutIDR: "a parameter set changed without an IDR picture"
        case .malformedParameterSet(let error): "a parameter set is malformed: \(error)"
        case .amendmentFailed(let reason): "the parameter sets could not be amended: \(reason)"
        case .amendmentChangedIDs: "amending the parameter sets removed or added some"
        }
    }
}
