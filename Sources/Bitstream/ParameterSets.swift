/// The parameter sets in force, by their ids, with their original bytes.
///
/// Copies share their storage, and comparing a copy with its unchanged original compares two references.
public struct ParameterSets: Sendable {
    /// One parameter set.
    public struct Element: Equatable, Sendable {
        /// The set's own id: 0 to 31 (SPS) or 255 (PPS) in H.264, 15 (VPS, SPS) or 63 (PPS) in H.265.
        public let id: Int
        /// The NAL unit, without start code and with its emulation prevention bytes.
        public let nalUnit: [UInt8]
        /// The id of the set that it refers to: a picture's sequence, an H.265 sequence's video parameter
        /// set; `nil` for a set that refers to none.
        public let referredID: Int?
    }

    /// The largest parameter set accepted, in bytes; real ones have a few dozen. Bounds the memory that a
    /// malicious stream can occupy.
    public static let maximumByteCount = 16 << 10

    /// The standard that the sets belong to.
    public let codec: Codec
    /// The video parameter sets, by rising id; H.264 has none.
    public private(set) var video: [Element] = []
    /// The sequence parameter sets, by rising id.
    public private(set) var sequence: [Element] = []
    /// The picture parameter sets, by rising id.
    public private(set) var picture: [Element] = []

    /// Creates an empty collection.
    public init(codec: Codec) { self.codec = codec }

    /// The sets among the NAL units of an Annex B byte string such as an encoder's extradata.
    ///
    /// Units of other types are skipped; if two sets have the same id, the later one counts.
    public init(annexB bytes: RawSpan, codec: Codec) throws(SyntaxError) {
        self.init(codec: codec)
        var scanner = NALUnitScanner()
        while let unit = scanner.next(in: bytes) {
            let nalUnit = bytes.extracting(unit.bytes)
            guard NALUnitHeader(of: nalUnit, codec: codec)?.isParameterSet == true else { continue }
            try insert(nalUnit)
        }
    }

    /// Whether there are no sets.
    public var isEmpty: Bool { video.isEmpty && sequence.isEmpty && picture.isEmpty }

    /// Whether a picture can be decoded with these: there are sets of each of the codec's kinds, and every
    /// set refers to one in this collection.
    public var isComplete: Bool {
        !sequence.isEmpty && !picture.isEmpty && picture.refersOnly(to: sequence)
            && (codec == .h264 || !video.isEmpty && sequence.refersOnly(to: video))
    }

    /// The sets except those that refer to a missing one: no picture can use them. Such a set may be a
    /// damaged or foreign unit.
    public var withoutOrphans: ParameterSets {
        var sets = self
        if codec == .hevc { sets.sequence.removeAll { !$0.refers(to: video) } }
        sets.picture.removeAll { [sequence = sets.sequence] in !$0.refers(to: sequence) }
        return sets
    }

    /// The sets as one Annex B byte string, each with a start code of 4 bytes; sets come after those that
    /// they refer to.
    public var annexB: [UInt8] {
        var bytes: [UInt8] = []
        for element in video + sequence + picture { bytes += [0, 0, 0, 1] + element.nalUnit }
        return bytes
    }

    /// Number of bytes of `annexB`.
    var byteCount: Int {
        Self.byteCount(of: video) + Self.byteCount(of: sequence) + Self.byteCount(of: picture)
    }

    private static func byteCount(of elements: [Element]) -> Int {
        elements.reduce(0) { $0 + AccessUnit.startCodeLength + $1.nalUnit.count }
    }

    /// Inserts a parameter set NAL unit, given without start code, replacing the one with its id.
    ///
    /// Allocates nothing if the same set is already present.
    ///
    /// - Returns: whether anything changed.
    /// - Throws: if the unit is not a parameter set, its ids can't be read, or it is larger than
    ///   `maximumByteCount`. The sets are unchanged then.
    @discardableResult
    public mutating func insert(_ nalUnit: RawSpan) throws(SyntaxError) -> Bool {
        let ids = try ParameterSetIDs(nalUnit, codec: codec)
        guard nalUnit.byteCount <= Self.maximumByteCount else {
            throw SyntaxError(
                element: "nal_unit",
                reason: .tooLarge(byteCount: nalUnit.byteCount, limit: Self.maximumByteCount), bitOffset: 0)
        }
        return switch ids.kind {
        case .video: Self.insert(nalUnit, ids, into: &video)
        case .sequence: Self.insert(nalUnit, ids, into: &sequence)
        case .picture: Self.insert(nalUnit, ids, into: &picture)
        }
    }

    private static func insert(
        _ nalUnit: RawSpan, _ ids: ParameterSetIDs, into elements: inout [Element]
    ) -> Bool {
        let index = elements.firstIndex { $0.id >= ids.id } ?? elements.endIndex
        let isReplacement = index < elements.endIndex && elements[index].id == ids.id
        if isReplacement, nalUnit.hasSameBytes(as: elements[index].nalUnit) { return false }
        let element = Element(
            id: ids.id, nalUnit: nalUnit.withUnsafeBytes { Array($0) },
            referredID: ids.referredID)
        elements.replaceSubrange(index..<index + (isReplacement ? 1 : 0), with: CollectionOfOne(element))
        return true
    }

    /// Whether both have sets under the same ids, whatever their content.
    func hasSameIDs(as other: ParameterSets) -> Bool {
        video.elementsEqual(other.video) { $0.id == $1.id }
            && sequence.elementsEqual(other.sequence) { $0.id == $1.id }
            && picture.elementsEqual(other.picture) { $0.id == $1.id }
    }
}

extension ParameterSets: Equatable {}

extension [ParameterSets.Element] {
    /// Whether every set refers to one of `others`.
    fileprivate func refersOnly(to others: [ParameterSets.Element]) -> Bool {
        allSatisfy { $0.refers(to: others) }
    }
}

extension ParameterSets.Element {
    /// Whether the set that it refers to is one of `others`.
    fileprivate func refers(to others: [ParameterSets.Element]) -> Bool {
        others.contains { $0.id == referredID }
    }
}

extension RawSpan {
    fileprivate func hasSameBytes(as array: [UInt8]) -> Bool {
        byteCount == array.count && withUnsafeBytes { $0.elementsEqual(array) }
    }
}
