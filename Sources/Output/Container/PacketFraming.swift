import Bitstream

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

    /// What was found in a packet.
    struct Finding {
        var isKeyframe = false
        /// Whether decoding can begin here, even with an I picture whose leading pictures can't be decoded then.
        var allowsEntry = false
        /// In words; nil if nothing is wrong.
        var problem: String?
    }

    /// - Parameter configuration: what the container stores separately: a decoder configuration record,
    ///   Annex B, or nothing.
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

    /// Notes that the next packet does not follow the previous one.
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
        if lengthSize != nil, !hasSlice, finding.problem == nil {
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

    /// Whether pictures are correct from here on, not only later.
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
