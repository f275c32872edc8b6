import CamPlatform

/// Turns an encoder's packets into access units of the guaranteed shape.
///
/// The guarantees for any encoder:
/// - every NAL unit follows a start code of 4 bytes and is unchanged, including emulation prevention;
/// - the access unit of each IDR picture is `[VPS] SPS PPS [SEI] IDR`, with each parameter set in force
///   once, cached from the stream and inserted if the encoder omits it; other access units have no
///   parameter sets;
/// - the first access unit is an IDR picture;
/// - filler data, end-of-sequence units and H.265's suffix SEI stay only after the first slice. The shaper
///   removes access unit delimiters and all units that single-layer decoders must discard: reserved and
///   unspecified types, auxiliary pictures, and the additional layers of either standard's annexes.
///
/// A packet is one coded picture in Annex B form. Field pairs in one packet are not distinguished from one
/// picture. Allocates nothing in the steady state. Use a shaper on the thread of its pool.
public struct StreamShaper {
    /// Replaces parameter sets, for instance to correct their VUI, without changing ids.
    public typealias Amendment = (ParameterSets) throws -> ParameterSets

    /// The most NAL units accepted from one packet; more than twice the slices that any level allows at
    /// 1080p.
    public static let maximumUnitCount = 16384

    /// Called when an IDR picture comes with parameter sets that differ from the previous ones.
    private let amendParameterSets: Amendment?
    private let pool: AccessUnitPool

    /// The sets from the encoder, including sets for the next picture.
    private var received: ParameterSets
    /// The sets in force: from the encoder, for the last IDR picture.
    private var activated: ParameterSets?
    /// The sets that are written instead of `activated`.
    private var amended: ParameterSets
    /// The message of pictures that state their capture time; kept to reuse the storage.
    private var captureTimeMessage: CaptureTimeMessage
    /// The units of the current packet; kept to reuse the storage.
    private var units: [NALUnitScanner.Location] = []

    /// Creates a shaper at the start of a stream.
    ///
    /// - Parameters:
    ///   - pool: where access units come from; its codec is the stream's.
    ///   - amendParameterSets: called with the encoder's sets when an IDR picture comes with new sets; the
    ///     result is written instead, until the sets change again.
    public init(pool: AccessUnitPool, amendParameterSets: Amendment? = nil) {
        self.pool = pool
        self.amendParameterSets = amendParameterSets
        received = ParameterSets(codec: pool.codec)
        amended = ParameterSets(codec: pool.codec)
        captureTimeMessage = CaptureTimeMessage(codec: pool.codec)
    }

    /// The parameter sets that are written before IDR pictures; empty before the first.
    public var parameterSets: ParameterSets { amended }

    /// Adds parameter sets that the encoder returns outside its packets. Sets in packets replace sets with
    /// the same id.
    public mutating func prime(parameterSets: ParameterSets) { received = parameterSets }

    /// Expects an IDR picture, after pictures were lost. Parameter sets stay known.
    public mutating func expectIDR() { activated = nil }

    /// The access unit for one packet.
    ///
    /// - Parameters:
    ///   - packet: one coded picture in Annex B form.
    ///   - frameNumber: the picture's position in the recording, from 0.
    ///   - sequence: the driver's sequence number of the picture.
    ///   - timestamp: when the picture was captured.
    ///   - captureTime: what the picture states about that, in an SEI message before its slices (MISB ST 0604); `nil`
    ///     for no message.
    /// - Returns: `nil` for a packet without slices; its parameter sets apply to the next picture.
    /// - Throws: `StreamShapeError` if the packet cannot be repaired. The picture is lost; other pictures
    ///   may refer to it, so the caller should restart the encoder.
    public mutating func shape(
        _ packet: RawSpan, frameNumber: Int, sequence: UInt32, timestamp: Instant,
        captureTime: WallTime? = nil
    ) throws(StreamShapeError) -> AccessUnit? {
        do throws(Violation) {
            guard let picture = try survey(packet) else {
                try learnParameterSets(in: packet, units[...])
                return nil
            }
            try learnParameterSets(in: packet, units[..<picture.firstSlice])
            try activateParameterSets(for: picture)
            // Sets after the slices belong to the next picture, not to this one.
            try learnParameterSets(in: packet, units[picture.firstSlice...])
            if let captureTime, let slice = header(of: units[picture.firstSlice], in: packet) {
                captureTimeMessage.set(captureTime, for: slice)
            }
            return build(picture, from: packet, statesTime: captureTime != nil)
                .finish(
                    isIDR: picture.isIDR, frameNumber: frameNumber, sequence: sequence, timestamp: timestamp)
        } catch {
            throw StreamShapeError(
                rule: error.rule, frameNumber: frameNumber,
                unit: error.unit.flatMap { header(of: $0, in: packet) },
                offset: error.unit?.bytes.lowerBound ?? 0)
        }
    }

    /// The picture of a packet, from its slices.
    private struct Picture {
        /// Index of the first slice in `units`.
        let firstSlice: Int
        /// Whether the slices belong to an IDR picture.
        let isIDR: Bool
    }

    /// A broken rule and the unit that breaks it.
    private struct Violation: Error {
        let rule: StreamShapeError.Rule
        var unit: NALUnitScanner.Location?
    }

    /// The unit's header; `nil` if it is too short for one.
    private func header(of unit: NALUnitScanner.Location, in packet: RawSpan) -> NALUnitHeader? {
        NALUnitHeader(of: packet.extracting(unit.bytes), codec: pool.codec)
    }

    /// Lists the packet's units and refuses irreparable packets; `nil` for a packet without slices.
    private mutating func survey(_ packet: RawSpan) throws(Violation) -> Picture? {
        units.removeAll(keepingCapacity: true)
        var picture: Picture?
        var scanner = NALUnitScanner()
        while let unit = scanner.next(in: packet) {
            guard units.count < Self.maximumUnitCount else {
                throw Violation(rule: .tooManyUnits(limit: Self.maximumUnitCount), unit: unit)
            }
            guard let header = header(of: unit, in: packet) else {
                throw Violation(rule: .emptyUnit, unit: unit)
            }
            guard !header.forbidden_zero_bit else { throw Violation(rule: .forbiddenZeroBit, unit: unit) }
            switch header.role {
            case .slice(let isIDR):
                guard picture == nil || picture?.isIDR == isIDR else {
                    throw Violation(rule: .mixedSlices, unit: unit)
                }
                picture = picture ?? Picture(firstSlice: units.count, isIDR: isIDR)
            case .unsupported:
                throw Violation(rule: .unsupportedUnit, unit: unit)
            case .beforeSlices where picture != nil:
                throw Violation(rule: .unitAfterSlices, unit: unit)
            default:
                break
            }
            units.append(unit)
        }
        guard let first = units.first, packet.isZero(upTo: first.startCodeOffset) else {
            throw Violation(rule: .notAnnexB)
        }
        return picture
    }

    /// Caches the parameter sets among `units`.
    private mutating func learnParameterSets(
        in packet: RawSpan, _ units: ArraySlice<NALUnitScanner.Location>
    ) throws(Violation) {
        for unit in units where header(of: unit, in: packet)?.role == .parameterSet {
            do throws(SyntaxError) {
                try received.insert(packet.extracting(unit.bytes))
            } catch {
                throw Violation(rule: .malformedParameterSet(error), unit: unit)
            }
        }
    }

    /// Activates the received sets at an IDR picture; for other pictures, checks that the sets are already
    /// active.
    private mutating func activateParameterSets(for picture: Picture) throws(Violation) {
        guard received != activated else { return }
        let slice = units[picture.firstSlice]
        guard picture.isIDR else {
            let rule: StreamShapeError.Rule =
                activated == nil ? .startsWithoutIDR : .parameterSetsChangedWithoutIDR
            throw Violation(rule: rule, unit: slice)
        }
        guard received.isComplete else { throw Violation(rule: .missingParameterSets, unit: slice) }
        amended = try amend(received)
        activated = received
    }

    private func amend(_ original: ParameterSets) throws(Violation) -> ParameterSets {
        guard let amendParameterSets else { return original }
        let amended: ParameterSets
        do {
            amended = try amendParameterSets(original)
        } catch {
            throw Violation(rule: .amendmentFailed("\(error)"))
        }
        guard amended.hasSameIDs(as: original), amended.isComplete else {
            throw Violation(rule: .amendmentChangedIDs)
        }
        return amended
    }

    /// Copies the units of the access unit in order.
    private func build(
        _ picture: Picture, from packet: RawSpan, statesTime: Bool
    ) -> AccessUnitBuilder {
        var builder = pool.makeBuilder()
        // Every start code may grow from 3 bytes to 4.
        builder.reserveCapacity(
            packet.byteCount + units.count + (picture.isIDR ? amended.byteCount : 0)
                + (statesTime ? AccessUnit.startCodeLength + captureTimeMessage.nalUnit.count : 0))
        if picture.isIDR {
            for set in amended.video { builder.append(set.nalUnit.span.bytes) }
            for set in amended.sequence { builder.append(set.nalUnit.span.bytes) }
            for set in amended.picture { builder.append(set.nalUnit.span.bytes) }
        }
        for (index, unit) in units.enumerated() {
            if statesTime, index == picture.firstSlice {
                builder.append(captureTimeMessage.nalUnit.span.bytes)
            }
            let isKept =
                switch header(of: unit, in: packet)?.role {
                case .slice, .beforeSlices: true
                case .afterSlices: index > picture.firstSlice
                default: false
                }
            if isKept { builder.append(packet.extracting(unit.bytes)) }
        }
        return builder
    }
}

/// The treatment of a unit, by its type.
private enum Role: Equatable {
    case parameterSet
    case slice(isIDR: Bool)
    /// Kept before the slices: SEI.
    case beforeSlices
    /// Kept after the first slice: filler data, ends of sequences, H.265's suffix SEI.
    case afterSlices
    /// A part of the picture that the shape does not support: data partitions.
    case unsupported
    /// Units that single-layer decoders discard, and delimiters.
    case discarded
}

extension NALUnitHeader {
    fileprivate var role: Role {
        if isParameterSet { return .parameterSet }
        if isSlice { return .slice(isIDR: isIDR) }
        return switch self {
        case .h264(let header): header.nal_unit_type.roleBesidePictures
        case .hevc(let header) where header.nuh_layer_id == 0: header.nal_unit_type.roleBesidePictures
        case .hevc: .discarded
        }
    }
}

extension H264.NALUnitType {
    fileprivate var roleBesidePictures: Role {
        switch self {
        case .supplementalEnhancementInformation: .beforeSlices
        case .fillerData, .endOfSequence, .endOfStream: .afterSlices
        case .sliceDataPartitionA, .sliceDataPartitionB, .sliceDataPartitionC: .unsupported
        default: .discarded
        }
    }
}

extension H265.NALUnitType {
    fileprivate var roleBesidePictures: Role {
        switch self {
        case .prefixSEI: .beforeSlices
        case .suffixSEI, .fillerData, .endOfSequence, .endOfBitstream: .afterSlices
        default: .discarded
        }
    }
}

extension RawSpan {
    /// Whether the bytes before `end` are all zero.
    fileprivate func isZero(upTo end: Int) -> Bool {
        withUnsafeBytes { $0[..<end].allSatisfy { $0 == 0 } }
    }
}

// MARK: - Errors

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
        /// A NAL unit type outside the supported profiles (data partitioning).
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
    /// Position of the offending unit's header in the packet, in bytes; 0 for an error of the whole packet.
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
