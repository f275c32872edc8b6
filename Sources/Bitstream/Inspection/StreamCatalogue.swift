// MARK: - Parameter sets

/// A distinct parameter set of a stream.
public struct ParameterSetRecord: Sendable {
    /// The start of its NAL unit.
    public let header: NALUnitHeader
    /// The id by which others refer to it; `nil` if it cannot be read.
    public let id: Int?
    /// Its first position in the stream, start code included.
    public let offset: Int
    /// The NAL unit, without start code.
    public let nalUnit: [UInt8]
    /// How often it appears in the stream, byte for byte the same.
    public internal(set) var count: Int
    /// Its syntax elements.
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
    /// `VPS`, `SPS` and so on.
    public let kind: String
    /// Number of NAL units.
    public internal(set) var count: Int
    /// Number of them that differ from all earlier ones.
    public internal(set) var distinct: Int
    /// How often one replaced another with the same id.
    public internal(set) var changes: Int
}

/// Collects a stream's parameter sets.
struct ParameterSetCatalogue: Sendable {
    /// Bytes of distinct sets that are kept; real streams have a few hundred.
    static let byteLimit = 64 << 10

    private(set) var records: [ParameterSetRecord] = []
    private(set) var counts: [ParameterSetCount] = []
    /// Whether there were more distinct sets than are kept.
    private(set) var isIncomplete = false

    private struct Key: Hashable {
        let kind: String
        let id: Int?
    }

    private var indices: [[UInt8]: Int] = [:]
    private var inForce: [Key: Int] = [:]
    private var keptByteCount = 0

    /// - Parameter parameterSets: those in force with this one.
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
    /// The id of the parameter set that this is.
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
    /// The standard's name for it, such as `recovery_point`.
    public let name: String
    /// Number of messages.
    public internal(set) var count: Int
    /// The text in the first one, if it is user data with text, or the words for what it states.
    public let text: String?
}

/// Collects a stream's supplemental enhancement information.
struct MessageCatalogue: Sendable {
    /// Payload types that are kept; the standards have a few hundred.
    private static let limit = 256
    /// Characters of a text that are kept.
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
