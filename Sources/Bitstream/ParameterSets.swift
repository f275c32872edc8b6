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
        /// The id of the set that this set refers to: the SPS of a PPS, the VPS of an H.265 SPS; `nil` for
        /// a set without a reference.
        public let referredID: Int?
    }

    /// The largest parameter set accepted, in bytes; real ones have a few dozen. Limits the memory that a
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
    /// Other units are skipped; of two sets with the same id, the later set counts.
    public init(annexB bytes: RawSpan, codec: Codec) throws(SyntaxError) {
        self.init(codec: codec)
        var scanner = NALUnitScanner()
        while let unit = scanner.next(in: bytes) {
            let nalUnit = bytes.extracting(unit.bytes)
            guard NALUnitHeader(of: nalUnit, codec: codec)?.isParameterSet == true else { continue }
            try insert(nalUnit)
        }
    }

    /// Whether the collection has no sets.
    public var isEmpty: Bool { video.isEmpty && sequence.isEmpty && picture.isEmpty }

    /// Whether a picture can be decoded: the collection has sets of all kinds of the codec, and every set
    /// refers to a set in the collection.
    public var isComplete: Bool {
        !sequence.isEmpty && !picture.isEmpty && picture.refersOnly(to: sequence)
            && (codec == .h264 || !video.isEmpty && sequence.refersOnly(to: video))
    }

    /// The sets without orphans. An orphan refers to a missing set, so no picture can use it; it may be a
    /// damaged or foreign unit.
    public var withoutOrphans: ParameterSets {
        var sets = self
        if codec == .hevc { sets.sequence.removeAll { !$0.refers(to: video) } }
        sets.picture.removeAll { [sequence = sets.sequence] in !$0.refers(to: sequence) }
        return sets
    }

    /// The sets as one Annex B byte string, each with a start code of 4 bytes; each set follows the set
    /// that it refers to.
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
    /// - Throws: if the unit is not a parameter set, has unreadable ids, or is larger than
    ///   `maximumByteCount`. The collection is then unchanged.
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

    /// Whether both collections have the same ids; the content may differ.
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
    /// Whether this set refers to one of `others`.
    fileprivate func refers(to others: [ParameterSets.Element]) -> Bool {
        others.contains { $0.id == referredID }
    }
}

extension RawSpan {
    fileprivate func hasSameBytes(as array: [UInt8]) -> Bool {
        byteCount == array.count && withUnsafeBytes { $0.elementsEqual(array) }
    }
}

extension ParameterSets {
    /// Refuses a parameter set that is larger than `maximumByteCount`.
    static func checkSize(_ byteCount: Int) throws(SyntaxError) {
        guard byteCount <= maximumByteCount else {
            throw SyntaxError(
                element: "nal_unit", reason: .tooLarge(byteCount: byteCount, limit: maximumByteCount),
                bitOffset: 0)
        }
    }
}

// MARK: - Ids at the start of a set

/// The ids at the start of a parameter set of either codec: all that caching the set needs.
struct ParameterSetIDs: Equatable {
    /// The kinds of parameter set, in the order in which sets refer to each other.
    enum Kind: Int {
        /// H.265's layers and sub-layers (VPS).
        case video
        /// The coded video sequence (SPS).
        case sequence
        /// Pictures (PPS).
        case picture
    }

    /// The kind of the set.
    let kind: Kind
    /// The set's own id.
    let id: Int
    /// The id of the set that this set refers to: the SPS of a PPS, the VPS of an H.265 SPS.
    let referredID: Int?

    /// Reads the ids of a parameter set NAL unit, given without start code. Allocates nothing.
    init(_ nalUnit: RawSpan, codec: Codec) throws(SyntaxError) {
        guard let header = NALUnitHeader(of: nalUnit, codec: codec) else {
            throw SyntaxError(element: "nal_unit_header", reason: .truncated, bitOffset: 0)
        }
        guard let kind = header.parameterSetKind else {
            throw SyntaxError(
                element: "nal_unit_type", reason: .unexpectedType(UInt8(header.nal_unit_type)), bitOffset: 0)
        }
        self = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
            switch codec {
            case .h264: try ParameterSetIDs(kind, h264: RBSPReader(bytes, headerLength: 1))
            case .hevc:
                try ParameterSetIDs(
                    kind, hevc: RBSPReader(bytes, headerLength: H265.NALUnitHeader.byteCount))
            }
        }
    }

    /// H.264, 7.3.2.1.1 and 7.3.2.2.
    private init(_ kind: Kind, h264 start: RBSPReader) throws(SyntaxError) {
        var reader = start
        self.kind = kind
        if kind == .sequence {
            _ = try reader.u(24, "profile_idc, constraint flags, level_idc")
            id = try reader.ue("seq_parameter_set_id", in: 0...31)
            referredID = nil
        } else {
            id = try reader.ue("pic_parameter_set_id", in: 0...255)
            referredID = try reader.ue("seq_parameter_set_id", in: 0...31)
        }
    }

    /// H.265, 7.3.2.1 to 7.3.2.3.
    private init(_ kind: Kind, hevc start: RBSPReader) throws(SyntaxError) {
        var reader = start
        self.kind = kind
        switch kind {
        case .video:
            id = try reader.u(4, "vps_video_parameter_set_id")
            referredID = nil
        case .sequence:
            referredID = try reader.u(4, "sps_video_parameter_set_id")
            try reader.skipProfileTierLevel()
            id = try reader.ue("sps_seq_parameter_set_id", in: 0...15)
        case .picture:
            id = try reader.ue("pps_pic_parameter_set_id", in: 0...63)
            referredID = try reader.ue("pps_seq_parameter_set_id", in: 0...15)
        }
    }
}

extension NALUnitHeader {
    /// The kind of parameter set that the unit contains; `nil` for other units and other layers.
    var parameterSetKind: ParameterSetIDs.Kind? {
        switch self {
        case .h264(let header):
            switch header.nal_unit_type {
            case .sequenceParameterSet: .sequence
            case .pictureParameterSet: .picture
            default: nil
            }
        case .hevc(let header) where header.nuh_layer_id == 0:
            switch header.nal_unit_type {
            case .videoParameterSet: .video
            case .sequenceParameterSet: .sequence
            case .pictureParameterSet: .picture
            default: nil
            }
        case .hevc: nil
        }
    }
}

extension RBSPReader {
    /// Skips from after `sps_video_parameter_set_id` to after profile_tier_level() (H.265, 7.3.2.2.1, 7.3.3).
    fileprivate mutating func skipProfileTierLevel() throws(SyntaxError) {
        let subLayers = try u(3, "sps_max_sub_layers_minus1")
        _ = try flag("sps_temporal_id_nesting_flag")
        try skip(88 + 8, "profile_tier_level")
        guard subLayers > 0 else { return }
        var present = 0
        for _ in 0..<8 { present = present << 2 | (try u(2, "sub_layer_profile_present_flag")) }
        for index in 0..<subLayers {
            let flags = present >> (2 * (7 - index)) & 3
            if flags & 2 != 0 { try skip(88, "sub_layer_profile") }
            if flags & 1 != 0 { try skip(8, "sub_layer_level_idc") }
        }
    }

    private mutating func skip(_ bitCount: Int, _ element: String) throws(SyntaxError) {
        for _ in 0..<bitCount / 8 { _ = try u(8, element) }
    }
}
