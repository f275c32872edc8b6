/// The kind of a stream, from its first bytes.
public enum StreamKind: Equatable, Sendable {
    /// NAL units with start codes, or with length prefixes of 4 bytes.
    case stream(Codec, NALUnitSource.Framing)
    /// A container that camrec writes, too.
    case container(StreamContainer)
    /// A file of another known kind, such as `an IVF file`.
    case other(String)
    /// An unknown kind.
    case unknown
    /// An empty stream.
    case empty
}

extension StreamKind {
    /// The number of bytes that decides the kind: more bytes add no evidence.
    public static let decisiveByteCount = 64 << 10

    /// Determines the kind of a stream from its first bytes.
    ///
    /// - Parameters:
    ///   - head: the first bytes of a stream.
    ///   - isWhole: whether the stream ends with them.
    ///   - codec: the codec, if known.
    ///   - framing: the framing of the units, if known.
    /// - Returns: `nil` if more bytes are needed to decide.
    public init?(head: RawSpan, isWhole: Bool, codec: Codec? = nil, framing: NALUnitSource.Framing? = nil) {
        let isFinal = isWhole || head.byteCount >= Self.decisiveByteCount
        if head.isEmpty {
            guard isWhole else { return nil }
            self = .empty
        } else if let container = StreamContainer(head: head) {
            self = .container(container)
        } else if let name = ForeignSignature.name(of: head) {
            self = .other(name)
        } else if let kind = Self.recognized(head, isWhole: isWhole, isFinal: isFinal, codec, framing) {
            self = kind
        } else if isFinal {
            self = .unknown
        } else {
            return nil
        }
    }

    /// The stream of NAL units that begins with these bytes; nil for other data.
    private static func recognized(
        _ head: RawSpan, isWhole: Bool, isFinal: Bool, _ codec: Codec?, _ framing: NALUnitSource.Framing?
    ) -> StreamKind? {
        let candidates = framing.map { [$0] } ?? [.lengthPrefixed(.four), .annexB]
        for framing in candidates {
            var evidence = CodecEvidence()
            guard evidence.add(head, framing, isWhole: isWhole) else { continue }
            if let codec = codec ?? evidence.codec(isFinal: isFinal) { return .stream(codec, framing) }
        }
        return nil
    }
}

/// The evidence for each codec in the first NAL units of a stream.
private struct CodecEvidence {
    private(set) var unitCount = 0
    /// The numbers of plausible and implausible units for each codec.
    private var units: [Codec: (plausible: Int, implausible: Int)] = [:]
    /// The numbers of readable sequence parameter sets for each codec.
    private var sets: [Codec: Int] = [:]

    /// The codec if it is certain, or the likelier codec at the end of the data.
    func codec(isFinal: Bool) -> Codec? {
        let readable = Codec.allCases.filter { sets[$0, default: 0] > 0 }
        if readable.count == 1 { return readable[0] }
        guard isFinal else { return nil }
        let score = { (codec: Codec) -> Int in
            let found = units[codec] ?? (0, 0)
            return found.plausible - 4 * found.implausible
        }
        let best = score(.h264) >= score(.hevc) ? Codec.h264 : .hevc
        return score(best) > 0 ? best : nil
    }

    /// - Returns: whether the bytes can have this framing.
    mutating func add(_ head: RawSpan, _ framing: NALUnitSource.Framing, isWhole: Bool) -> Bool {
        switch framing {
        case .annexB:
            addAnnexBUnits(of: head, isWhole: isWhole)
            return unitCount > 0
        case .lengthPrefixed(let size):
            return addLengthPrefixedUnits(of: head, size.rawValue)
        }
    }

    private mutating func addAnnexBUnits(of head: RawSpan, isWhole: Bool) {
        var scanner = NALUnitScanner()
        while let unit = scanner.next(in: head) {
            // The unit in which the head ends may continue.
            guard unit.bytes.upperBound < head.byteCount || isWhole else { break }
            add(head.extracting(unit.bytes))
        }
    }

    /// - Returns: whether the lengths lead from unit to unit.
    private mutating func addLengthPrefixedUnits(of head: RawSpan, _ lengthSize: Int) -> Bool {
        var position = 0
        while position + lengthSize <= head.byteCount {
            var length = 0
            for index in position..<position + lengthSize {
                length = length << 8 | Int(head.unsafeLoad(fromByteOffset: index, as: UInt8.self))
            }
            guard length > 0, length < 1 << 28 else { return false }
            let end = position + lengthSize + length
            // The last unit may be cut off; two units with fitting lengths are no coincidence.
            if end > head.byteCount { return unitCount > 1 }
            let unit = head.extracting(position + lengthSize..<end)
            guard unit.unsafeLoad(fromByteOffset: 0, as: UInt8.self) & 0x80 == 0 else { return false }
            add(unit)
            position = end
        }
        return unitCount > 1 || (unitCount > 0 && position == head.byteCount)
    }

    private mutating func add(_ nalUnit: RawSpan) {
        guard !nalUnit.isEmpty else { return }
        unitCount += 1
        addH264(nalUnit)
        addH265(nalUnit)
    }

    private mutating func addH264(_ nalUnit: RawSpan) {
        let header = H264.NALUnitHeader(of: nalUnit)
        if header.nal_unit_type == .sequenceParameterSet, header.isReferenceIndicationValid,
            (try? H264.SequenceParameterSet(nalUnit)) != nil
        {
            sets[.h264, default: 0] += 1
        }
        let isPlausible =
            !header.forbidden_zero_bit && header.isReferenceIndicationValid
            && [1, 5, 6, 7, 8, 9, 10, 11, 12].contains(header.nal_unit_type.rawValue)
        count(isPlausible, .h264)
    }

    private mutating func addH265(_ nalUnit: RawSpan) {
        guard let header = H265.NALUnitHeader(of: nalUnit) else { return count(false, .hevc) }
        let isPlausible =
            !header.forbidden_zero_bit && header.nuh_layer_id == 0 && header.nuh_temporal_id_plus1 > 0
            && (header.nal_unit_type.isSliceSegment || (32...40).contains(header.nal_unit_type.rawValue))
        // No real H.264 unit has these two bytes as its header.
        if isPlausible, header.nal_unit_type.isParameterSet, header.nuh_temporal_id_plus1 == 1 {
            sets[.hevc, default: 0] += 1
        }
        count(isPlausible, .hevc)
    }

    private mutating func count(_ isPlausible: Bool, _ codec: Codec) {
        if isPlausible {
            units[codec, default: (0, 0)].plausible += 1
        } else {
            units[codec, default: (0, 0)].implausible += 1
        }
    }
}

/// A kind of container from which video can be read.
public enum StreamContainer: Sendable, CustomStringConvertible {
    /// Matroska, including WebM.
    case matroska
    /// MP4 (ISO/IEC 14496-12).
    case mp4
    /// An MPEG-2 transport stream (ITU-T H.222.0).
    case transportStream

    /// The container that begins with these bytes; nil for anything else.
    init?(head: RawSpan) {
        let found: StreamContainer? = head.withUnsafeBytes { bytes in
            if bytes.has("ftyp", at: 4) || bytes.has("moov", at: 4) || bytes.has("styp", at: 4) {
                return .mp4
            }
            if bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) { return .matroska }
            // Packets alone, each after a time (AVCHD), or each with a checksum (DVB).
            for (length, start) in [(188, 0), (192, 4), (204, 0)] where bytes.count >= length * 3 {
                let packets = stride(from: start, to: min(bytes.count, length * 5), by: length)
                if packets.allSatisfy({ bytes[$0] == 0x47 }) { return .transportStream }
            }
            return nil
        }
        guard let found else { return nil }
        self = found
    }

    /// `a Matroska file`
    public var description: String {
        switch self {
        case .matroska: "a Matroska file"
        case .mp4: "an MP4 file"
        case .transportStream: "an MPEG transport stream"
        }
    }
}

/// The first bytes of files that hold video in other forms.
private enum ForeignSignature {
    static func name(of head: RawSpan) -> String? {
        head.withUnsafeBytes { bytes in
            if bytes.has("RIFF", at: 0) { return "a RIFF file, such as AVI" }
            if bytes.has("FLV", at: 0) { return "an FLV file" }
            if bytes.has("OggS", at: 0) { return "an Ogg file" }
            if bytes.has("DKIF", at: 0) { return "an IVF file" }
            if bytes.has("YUV4MPEG2", at: 0) { return "a YUV4MPEG2 file" }
            return nil
        }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func has(_ text: StaticString, at offset: Int) -> Bool {
        let wanted = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return count >= offset + wanted.count && self[offset..<offset + wanted.count].elementsEqual(wanted)
    }
}
