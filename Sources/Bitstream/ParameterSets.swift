/// The sequence and picture parameter sets in force, by their ids, byte for byte as they came.
///
/// Copies share their storage, and comparing a copy with its unchanged original compares two references.
public struct ParameterSets: Sendable {
    /// One parameter set.
    public struct Element: Equatable, Sendable {
        /// `seq_parameter_set_id` (0 to 31) or `pic_parameter_set_id` (0 to 255).
        public let id: Int
        /// The NAL unit, without start code and with its emulation prevention bytes.
        public let nalUnit: [UInt8]
        /// The sequence parameter set that a picture parameter set refers to; its own id in one of those.
        public let sequenceParameterSetID: Int
    }

    /// The largest parameter set taken, in bytes; real ones have some tens. Bounds the memory that a hostile
    /// stream can have kept.
    public static let maximumByteCount = 16 << 10

    /// The sequence parameter sets, by rising id.
    public private(set) var sequence: [Element] = []
    /// The picture parameter sets, by rising id.
    public private(set) var picture: [Element] = []

    /// No sets.
    public init() {}

    /// The sets among the NAL units of an Annex B byte string such as an encoder's extradata.
    ///
    /// Units of other types are passed over; of two sets with one id the later counts.
    public init(annexB bytes: RawSpan) throws(SyntaxError) {
        var scanner = NALUnitScanner()
        while let unit = scanner.next(in: bytes) {
            let nalUnit = bytes.extracting(unit.bytes)
            guard !nalUnit.isEmpty, H264.NALUnitHeader(of: nalUnit).nal_unit_type.isParameterSet else {
                continue
            }
            try insert(nalUnit)
        }
    }

    /// Whether nothing is known.
    public var isEmpty: Bool { sequence.isEmpty && picture.isEmpty }

    /// Whether a picture can be decoded with these: there are sets of both kinds, and every picture parameter
    /// set refers to a sequence parameter set that is here.
    public var isComplete: Bool {
        !sequence.isEmpty && !picture.isEmpty
            && picture.allSatisfy { set in
                sequence.contains { $0.id == set.sequenceParameterSetID }
            }
    }

    /// The sets as one Annex B byte string: sequence parameter sets first, each behind a start code of 4
    /// bytes.
    public var annexB: [UInt8] {
        var bytes: [UInt8] = []
        for element in sequence + picture { bytes += [0, 0, 0, 1] + element.nalUnit }
        return bytes
    }

    /// Number of bytes of `annexB`.
    var byteCount: Int { Self.byteCount(of: sequence) + Self.byteCount(of: picture) }

    private static func byteCount(of elements: [Element]) -> Int {
        elements.reduce(0) { $0 + AccessUnit.startCodeLength + $1.nalUnit.count }
    }

    /// Takes over a parameter set NAL unit (type 7 or 8), given without start code, in place of the one with
    /// its id.
    ///
    /// Allocates nothing when the set is there already.
    ///
    /// - Returns: whether anything changed.
    /// - Throws: where the unit is not a parameter set, its ids can't be read, or it is larger than
    ///   `maximumByteCount`. The sets are unchanged then.
    @discardableResult
    public mutating func insert(_ nalUnit: RawSpan) throws(SyntaxError) -> Bool {
        let ids = try H264.ParameterSetIDs(nalUnit)
        guard nalUnit.byteCount <= Self.maximumByteCount else {
            throw SyntaxError(
                element: "nal_unit",
                reason: .tooLarge(byteCount: nalUnit.byteCount, limit: Self.maximumByteCount), bitOffset: 0)
        }
        return switch ids.type {
        case .sequenceParameterSet: Self.insert(nalUnit, ids, into: &sequence)
        default: Self.insert(nalUnit, ids, into: &picture)
        }
    }

    private static func insert(
        _ nalUnit: RawSpan, _ ids: H264.ParameterSetIDs, into elements: inout [Element]
    ) -> Bool {
        let index = elements.firstIndex { $0.id >= ids.id } ?? elements.endIndex
        let isReplacement = index < elements.endIndex && elements[index].id == ids.id
        if isReplacement, nalUnit.hasSameBytes(as: elements[index].nalUnit) { return false }
        let element = Element(
            id: ids.id, nalUnit: nalUnit.withUnsafeBytes { Array($0) },
            sequenceParameterSetID: ids.sequenceParameterSetID)
        elements.replaceSubrange(index..<index + (isReplacement ? 1 : 0), with: CollectionOfOne(element))
        return true
    }

    /// Whether both have sets under the same ids, whatever their content.
    func hasSameIDs(as other: ParameterSets) -> Bool {
        sequence.elementsEqual(other.sequence) { $0.id == $1.id }
            && picture.elementsEqual(other.picture) { $0.id == $1.id }
    }
}

extension ParameterSets: Equatable {}

extension RawSpan {
    fileprivate func hasSameBytes(as array: [UInt8]) -> Bool {
        byteCount == array.count && withUnsafeBytes { $0.elementsEqual(array) }
    }
}
