// MARK: - Parameter sets

/// A distinct parameter set of a stream.
public struct ParameterSetRecord: Sendable {
    /// The header of the NAL unit.
    public let header: NALUnitHeader
    /// The id by which other units refer to the set; `nil` if unreadable.
    public let id: Int?
    /// The first position in the stream, start code included.
    public let offset: Int
    /// The NAL unit, without start code.
    public let nalUnit: [UInt8]
    /// The number of identical copies in the stream.
    public internal(set) var count: Int
    /// The syntax elements of the set.
    public let structure: SyntaxStructure

    /// Number of bytes, the NAL unit header included.
    public var byteCount: Int { nalUnit.count }

    /// `VPS`, `SPS`, `PPS`, `SPS extension` or `subset SPS`.
    public var kind: String {
        switch header {
        case .h264(let header):
            switch header.nal_unit_type {
            case .sequenceParameterSet: "SPS"
            case .pictureParameterSet: "PPS"
            case .sequenceParameterSetExtension: "SPS extension"
            default: "subset SPS"
            }
        case .hevc(let header):
            switch header.nal_unit_type {
            case .videoParameterSet: "VPS"
            case .sequenceParameterSet: "SPS"
            default: "PPS"
            }
        }
    }
}

/// How often parameter sets of one kind appear in a stream.
public struct ParameterSetCount: Equatable, Sendable {
    /// The kind, as in `ParameterSetRecord.kind`.
    public let kind: String
    /// The number of NAL units.
    public internal(set) var count: Int
    /// The number of units that differ from all earlier units.
    public internal(set) var distinct: Int
    /// The number of times that a set replaced a different set with the same id.
    public internal(set) var changes: Int
}

/// Collects a stream's parameter sets.
struct ParameterSetCatalogue: Sendable {
    /// The limit of the bytes of distinct sets; real streams have a few hundred bytes.
    static let byteLimit = 64 << 10

    private(set) var records: [ParameterSetRecord] = []
    private(set) var counts: [ParameterSetCount] = []
    /// Whether the stream has more distinct sets than the limit allows.
    private(set) var isIncomplete = false

    private struct Key: Hashable {
        let kind: String
        let id: Int?
    }

    private var indices: [[UInt8]: Int] = [:]
    private var inForce: [Key: Int] = [:]
    private var keptByteCount = 0

    /// - Parameter parameterSets: the parameter sets in force, with this set.
    mutating func add(
        _ nalUnit: RawSpan, _ header: NALUnitHeader, at offset: Int, parameterSets: StreamParameterSets
    ) {
        let bytes = nalUnit.withUnsafeBytes { Array($0) }
        if let index = indices[bytes] {
            records[index].count += 1
            return count(index, isNew: false)
        }
        guard keptByteCount + bytes.count <= Self.byteLimit else {
            isIncomplete = true
            return
        }
        let structure = SyntaxStructure(nalUnit: nalUnit, codec: header.codec, parameterSets: parameterSets)
        records.append(
            ParameterSetRecord(
                header: header, id: structure.parameterSetID, offset: offset, nalUnit: bytes, count: 1,
                structure: structure))
        keptByteCount += bytes.count
        indices[bytes] = records.count - 1
        count(records.count - 1, isNew: true)
    }

    private mutating func count(_ index: Int, isNew: Bool) {
        let record = records[index]
        let former = inForce.updateValue(index, forKey: Key(kind: record.kind, id: record.id))
        let isChange = former != nil && former != index
        let position: Int
        if let known = counts.firstIndex(where: { $0.kind == record.kind }) {
            position = known
        } else {
            position = counts.count
            counts.append(ParameterSetCount(kind: record.kind, count: 0, distinct: 0, changes: 0))
        }
        counts[position].count += 1
        if isNew { counts[position].distinct += 1 }
        if isChange { counts[position].changes += 1 }
    }
}

extension SyntaxStructure {
    /// The id of the parameter set; nil for other structures.
    fileprivate var parameterSetID: Int? {
        for name in [
            "vps_video_parameter_set_id", "sps_seq_parameter_set_id", "pps_pic_parameter_set_id",
            "pic_parameter_set_id", "seq_parameter_set_id",
        ] {
            if let id = self[name] { return id }
        }
        return nil
    }
}

// MARK: - Supplemental enhancement information

/// Supplemental enhancement information of one payload type in a stream.
public struct MessageRecord: Equatable, Sendable {
    /// `payloadType` (Annex D).
    public let payloadType: Int
    /// The standard's name of the type, such as `recovery_point`.
    public let name: String
    /// The number of messages.
    public internal(set) var count: Int
    /// The text of the first message if it is user data with text, or its value in words.
    public let text: String?
}

/// Collects a stream's supplemental enhancement information.
struct MessageCatalogue: Sendable {
    /// The limit of payload types; the standards have a few hundred.
    private static let limit = 256
    /// The limit of a text, in characters.
    private static let textLimit = 1000

    private(set) var records: [MessageRecord] = []

    mutating func add(_ message: SEIMessage) {
        if let index = records.firstIndex(where: { $0.payloadType == message.payloadType }) {
            records[index].count += 1
        } else if records.count < Self.limit {
            records.append(
                MessageRecord(
                    payloadType: message.payloadType, name: message.name, count: 1, text: Self.text(message)))
        }
    }

    private static func text(_ message: SEIMessage) -> String? {
        switch message.content {
        case .unregisteredUserData(let data): data.text.map { String($0.prefix(textLimit)) }
        case .alternativeTransfer(let preferred): VideoUsabilityTables.transferCharacteristics(preferred)
        default: nil
        }
    }
}
