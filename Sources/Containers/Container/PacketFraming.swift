import Bitstream
import CamPlatform
import CamSound

/// Converts a container's packets to Annex B, with the parameter sets that the container stores separately.
struct PacketFraming {
    private let codec: Codec
    /// The number of bytes of each length; nil for packets that are Annex B themselves.
    private let lengthSize: AVCC.LengthSize?
    /// Parameter sets as Annex B.
    private let parameterSets: [UInt8]
    /// Whether parameter sets have been delivered.
    private var hasGivenSets = false
    /// The NAL units of the current packet; kept to reuse the storage.
    private var units: [Range<Int>] = []

    /// More than any picture has; bounds the memory.
    private static let largestUnit = 64 << 20

    /// The content of a packet.
    struct Finding {
        var isKeyframe = false
        /// Whether decoding can begin here, even with an I picture whose leading pictures can't be decoded then.
        var allowsEntry = false
        /// The damage, in words; nil if there is none.
        var problem: String?
    }

    /// - Parameter configuration: the parameter sets that the container stores separately: a decoder
    ///   configuration record, Annex B, or nothing.
    init(codec: Codec, configuration: [UInt8]) throws(ConfigurationRecordError) {
        self.codec = codec
        // A record begins with its version, Annex B with zeros.
        guard configuration.first == 1 else {
            (lengthSize, parameterSets) = (nil, configuration)
            return
        }
        let record = try DecoderConfigurationRecord(configuration.span.bytes, codec: codec)
        lengthSize = record.lengthSize
        parameterSets = record.parameterSets.flatMap { [0, 0, 0, 1] + $0 }
    }

    /// Called when the next packet does not follow the previous one, for example after a seek.
    mutating func interrupt() { hasGivenSets = false }

    /// Appends a packet to `stream`, as Annex B.
    mutating func append(_ packet: RawSpan, to stream: inout [UInt8]) -> Finding {
        var finding = Finding()
        locateUnits(packet, &finding)
        var hasParameterSets = false
        var hasSlice = false
        for unit in units {
            guard let header = NALUnitHeader(of: packet.extracting(unit), codec: codec) else { continue }
            if header.isSlice { hasSlice = true }
            if header.isEntryPoint { (finding.isKeyframe, finding.allowsEntry) = (true, true) }
            if header.isSupplementalEnhancementInformation, isRecoveryPoint(packet.extracting(unit)) {
                finding.allowsEntry = true
            }
            if header.isParameterSet { hasParameterSets = true }
        }
        // Zeros, such as a power cut leaves, look like a series of empty units.
        // Without a configuration that can be read, units with lengths look like none at all.
        if lengthSize != nil && !hasSlice || units.isEmpty, finding.problem == nil {
            finding.problem = "the picture has no slice"
        }
        let isIncomplete = !hasParameterSets && (finding.isKeyframe || finding.allowsEntry && !hasGivenSets)
        if isIncomplete || hasParameterSets { hasGivenSets = true }
        guard lengthSize != nil else {
            if isIncomplete { stream += parameterSets }
            appendAnnexB(packet, to: &stream)
            return finding
        }
        appendUnits(of: packet, withSets: isIncomplete, to: &stream)
        return finding
    }

    /// Whether a recovery point says that pictures are correct from this one on.
    private func isRecoveryPoint(_ nalUnit: RawSpan) -> Bool {
        SupplementalEnhancementInformation.recoveryPoint(in: nalUnit, codec)?.count == 0
    }

    private mutating func locateUnits(_ packet: RawSpan, _ finding: inout Finding) {
        units.removeAll(keepingCapacity: true)
        guard let lengthSize else {
            var scanner = NALUnitScanner()
            while let unit = scanner.next(in: packet) { units.append(unit.bytes) }
            return
        }
        var reader = AVCC.Reader(lengthSize: lengthSize, maximumUnitByteCount: Self.largestUnit)
        reader.read(packet, isLast: true) { result, _ in
            switch result {
            case .success(let unit): units.append(unit.offset..<unit.offset + unit.byteCount)
            case .failure(let error) where error.reason == .emptyUnit: break
            case .failure(let error): finding.problem = error.problem
            }
        }
    }

    /// libavformat splits where a start code of 3 bytes begins: the zero before it ends up in the previous
    /// packet.
    private func appendAnnexB(_ packet: RawSpan, to stream: inout [UInt8]) {
        packet.withUnsafeBytes { bytes in
            if bytes.starts(with: [0, 0, 1]) { stream.append(0) }
            stream += bytes
        }
        while stream.last == 0 { stream.removeLast() }
    }

    /// An access unit delimiter stays the first.
    private func appendUnits(of packet: RawSpan, withSets: Bool, to stream: inout [UInt8]) {
        var isMissing = withSets
        for unit in units {
            let nalUnit = packet.extracting(unit)
            if isMissing, NALUnitHeader(of: nalUnit, codec: codec)?.isAccessUnitDelimiter != true {
                stream += parameterSets
                isMissing = false
            }
            stream += [0, 0, 0, 1]
            nalUnit.withUnsafeBytes { stream += $0 }
        }
    }
}

// MARK: - Sound

/// Converts a container's packets of sound for use outside that container: without a transport stream's
/// header before each packet, and with the exact times that the container has rounded.
struct SoundFraming {
    /// The description of the packets; nil until it is known.
    private(set) var description: SoundDescription?

    private let declared: SoundDescription
    /// When the first packet of an even row began, and the frames since then.
    private var row: (start: Duration, frames: Int)?

    /// The largest rounding error of a container's times: Matroska counts in milliseconds.
    private static let rounding = Duration.microseconds(1_500)
    /// Sound that is further from the previous sound and from the pictures has a wrong time, or begins
    /// another recording.
    private static let farthest = Duration.seconds(60)
    /// A larger packet is invalid: even a second of raw samples is smaller.
    static let largestPacket = 1 << 20
    /// Greater values are invalid (`SoundEncoder` and libavcodec support no more channels).
    private static let (highestRate, mostChannels) = (768_000, 8)

    /// - Parameter declared: the container's description.
    init(_ declared: SoundDescription) {
        var format = declared.format
        if declared.codec == .opus {
            // A transport stream states nothing but the configuration (RFC 7845, 5.1).
            format.rate = SoundCodec.rate
            if format.channels == 0, declared.configuration.count > 9 {
                format.channels = Int(declared.configuration[9])
            }
        }
        self.declared = declared.with(format, declared.configuration)
        description = Self.isUsable(self.declared) ? self.declared : nil
    }

    /// Whether the rate and the channels are plausible. In a transport stream they may be 0, for unknown.
    static func canBe(_ format: SoundFormat) -> Bool {
        (0...highestRate).contains(format.rate) && (0...mostChannels).contains(format.channels)
    }

    /// Returns a packet; nil if the bytes are not a packet, or if there is no memory.
    /// - Parameters:
    ///   - time: the container's time since the first picture; nil if the packet follows the previous one, as
    ///     in a transport stream, whose PES packets contain several.
    mutating func packet(_ bytes: UnsafeRawBufferPointer, at time: Duration?) -> SoundPacket? {
        var content = bytes
        if declared.codec == .aac, declared.configuration.isEmpty {
            guard let header = ADTSHeader(bytes) else { return nil }
            content = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(header.byteCount))
            if description?.configuration != header.configuration {
                description = declared.with(header.format, header.configuration)
            }
        }
        guard let description, (1...Self.largestPacket).contains(content.count) else { return nil }
        let frames =
            description.codec.frameCount(of: content.bytes, configuration: description.configuration) ?? 0
        guard let begun = begin(at: time, frames: frames, description.format) else { return nil }
        return SoundPacket(
            Array(content), timestamp: .start + begun,
            duration: description.format.duration(of: frames))
    }

    /// Whether a time is far from both the sound before it and the pictures.
    /// - Parameters:
    ///   - time: the container's time since the first picture.
    ///   - picture: the time of the latest picture.
    func isStray(_ time: Duration, near picture: Duration?) -> Bool {
        guard let row, let picture, let description else { return false }
        let expected = row.start + description.format.duration(of: row.frames)
        return (time - expected).magnitude > Self.farthest && (time - picture).magnitude > Self.farthest
    }

    /// Called when packets are missing: the next packet's time counts again.
    mutating func interrupt() { row = nil }

    private mutating func begin(at time: Duration?, frames: Int, _ format: SoundFormat) -> Duration? {
        if let row {
            let expected = row.start + format.duration(of: row.frames)
            if (expected - (time ?? expected)).magnitude <= Self.rounding {
                self.row = (row.start, row.frames + frames)
                return expected
            }
        }
        row = time.map { ($0, frames) }
        return time
    }

    private static func isUsable(_ description: SoundDescription) -> Bool {
        let format = description.format
        guard canBe(format), format.rate > 0, format.channels > 0 else { return false }
        // AAC without a configuration has headers in its packets.
        return description.codec != .aac || !description.configuration.isEmpty
    }
}

extension SoundDescription {
    fileprivate func with(_ format: SoundFormat, _ configuration: [UInt8]) -> SoundDescription {
        SoundDescription(
            codec: codec, format: format, bitRate: bitRate, configuration: configuration,
            packetFrames: packetFrames)
    }
}
