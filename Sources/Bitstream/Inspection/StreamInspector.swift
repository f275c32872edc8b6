/// Reads a stream NAL unit by NAL unit, and collects its structure, its parameters and its problems.
///
/// The caller passes one unit at a time. The inspector stores 16 bytes per access unit, up to a limit, and
/// the distinct parameter sets. Any input is safe: unreadable units become problems with an offset.
///
///     var inspector = StreamInspector(codec: .h264)
///     … for each unit: let record = inspector.inspect(nalUnit, at: place)
///     inspector.finish(byteCount: …)
///     … inspector.summary
///
/// Use an inspector, which is a value, in one thread at a time.
public struct StreamInspector: Sendable {
    /// The default number of access units whose records are kept: 38 hours at 30 a second.
    public static let defaultPictureLimit = 1 << 22

    /// The coding standard by which the stream is read.
    public let codec: Codec
    private let readsElements: Bool
    private var catalogue = ParameterSetCatalogue()
    private var messages = MessageCatalogue()
    private var collector: PictureCollector
    private var detector: AccessUnitDetector
    private var orderCounter = PictureOrderCounter()
    /// The offset of the first undecided unit, which belongs to the access unit of the next unit.
    private var undecidedOffset: Int?
    private var problems = StreamProblemList()
    /// The format of the first picture.
    private var format: StreamFormat?
    private var latestFormat: StreamFormat?
    private var byteCount = 0
    private var nalUnitCount = 0
    private var prefixCounts = [Int](repeating: 0, count: 5)
    private var typeCounts = [Int](repeating: 0, count: 64)

    /// Creates an inspector at the start of a stream.
    ///
    /// - Parameters:
    ///   - codec: the stream's coding standard.
    ///   - readsElements: whether each unit's record includes its syntax elements.
    ///   - pictureLimit: the number of access units with records; later access units are only counted.
    public init(codec: Codec, readsElements: Bool = false, pictureLimit: Int = Self.defaultPictureLimit) {
        self.codec = codec
        self.readsElements = readsElements
        detector = AccessUnitDetector(codec: codec)
        collector = PictureCollector(limit: pictureLimit)
    }

    /// The finished access units in stream order, up to the limit.
    public var pictures: [PictureRecord] { collector.pictures }

    /// Reads the next NAL unit of the stream, given without start code.
    @discardableResult
    public mutating func inspect(_ nalUnit: RawSpan, at place: NALUnitPlace) -> NALUnitRecord {
        byteCount = place.offset + place.prefixLength + nalUnit.byteCount
        nalUnitCount += 1
        prefixCounts[min(place.prefixLength, prefixCounts.count - 1)] += 1
        var unit = UnitReading(place: place)
        if let header = NALUnitHeader(of: nalUnit, codec: codec) {
            read(nalUnit, header, &unit)
        } else {
            unit.problems.append("a NAL unit is shorter than its header")
        }
        for problem in unit.problems { problems.note(problem, at: place.offset) }
        return NALUnitRecord(
            offset: place.offset, prefixLength: place.prefixLength, byteCount: nalUnit.byteCount,
            header: unit.header, beginsAccessUnit: unit.beginsAccessUnit, slice: unit.slice,
            structure: unit.structure, problems: unit.problems)
    }

    /// Records a problem that does not lie in a NAL unit.
    public mutating func note(_ problem: String, at offset: Int) { problems.note(problem, at: offset) }

    /// Ends the stream of `byteCount` bytes.
    public mutating func finish(byteCount: Int) {
        self.byteCount = byteCount
        collector.end(at: byteCount)
    }

    /// The summary of the stream so far.
    public var summary: StreamSummary {
        StreamSummary(
            codec: codec, format: format, byteCount: byteCount,
            nalUnitCount: nalUnitCount,
            prefixes: prefixCounts.enumerated().filter { $0.element > 0 }.map { ($0.offset, $0.element) },
            unitTypes: typeCounts.enumerated().filter { $0.element > 0 }.map {
                ($0.offset, NALUnitHeader.shortName(ofType: $0.offset, codec: codec), $0.element)
            },
            accessUnitCount: collector.count, secondFieldCount: collector.secondFieldCount,
            idrCount: collector.idrCount, intraIDRCount: collector.intraIDRCount,
            keyframeCount: collector.keyframeCount,
            kindCounts: Dictionary(
                uniqueKeysWithValues: PictureKind.allCases.map {
                    ($0, collector.kindCounts[Int($0.rawValue)])
                }),
            outputOrder: collector.outputOrder, groupLengths: collector.groups.range,
            peakBitRate: collector.peakBitRate, pictureByteCount: collector.byteCount,
            parameterSetCounts: catalogue.counts, parameterSets: catalogue.records,
            parameterSetsAreIncomplete: catalogue.isIncomplete, messages: messages.records,
            captureTimes: collector.captureTimes,
            problems: allProblems, omittedProblemCount: problems.omittedCount)
    }
}

extension StreamInspector {
    private var parameterSets: StreamParameterSets { detector.parameterSets }

    /// The problem of the whole stream, if any, and the problems of its units.
    private var allProblems: [StreamProblem] {
        guard let offset = collector.unusableBeginning else { return problems.problems }
        let beginning = StreamProblem(
            message: "the stream does not begin with a keyframe", offset: offset, count: 1)
        return [beginning] + problems.problems
    }

    /// The results for the unit being read.
    private struct UnitReading {
        let place: NALUnitPlace
        var header: NALUnitHeader?
        var beginsAccessUnit = false
        var slice: NALUnitRecord.Slice?
        var structure: SyntaxStructure?
        var problems: [String] = []
    }

    private mutating func read(_ nalUnit: RawSpan, _ header: NALUnitHeader, _ unit: inout UnitReading) {
        unit.header = header
        unit.problems += header.oddities
        typeCounts[header.nal_unit_type] += 1
        findBoundary(before: nalUnit, &unit)
        if header.isCatalogued { readParameterSet(nalUnit, header, &unit) }
        if header.isSupplementalEnhancementInformation { readMessages(nalUnit, &unit) }
        if header.beginsSlice { readSlice(nalUnit, header, &unit) }
        if readsElements {
            unit.structure = SyntaxStructure(nalUnit: nalUnit, codec: codec, parameterSets: parameterSets)
        }
    }

    /// Ends the previous access unit if the unit, or an undecided one before it, begins another.
    private mutating func findBoundary(before nalUnit: RawSpan, _ unit: inout UnitReading) {
        switch detector.next(nalUnit) {
        case .undecided: undecidedOffset = undecidedOffset ?? unit.place.offset
        case .continues: undecidedOffset = nil
        case .begins:
            unit.beginsAccessUnit = true
            collector.begin(at: undecidedOffset ?? unit.place.offset)
            undecidedOffset = nil
        }
    }

    private mutating func readParameterSet(
        _ nalUnit: RawSpan, _ header: NALUnitHeader, _ unit: inout UnitReading
    ) {
        if let error = detector.parameterSetError {
            unit.problems.append("\(header.shortName): \(error)")
        }
        catalogue.add(nalUnit, header, at: unit.place.offset, parameterSets: parameterSets)
    }

    private mutating func readMessages(_ nalUnit: RawSpan, _ unit: inout UnitReading) {
        let information = SupplementalEnhancementInformation(nalUnit, parameterSets: parameterSets)
        for message in information.messages {
            messages.add(message)
            if case .recoveryPoint = message.content { collector.addRecoveryPoint() }
            if case .unregisteredUserData(let data) = message.content, let time = data.captureTime {
                collector.add(captureTime: time)
            }
            if case .damaged(let error) = message.content {
                unit.problems.append("SEI \(message.name): \(error)")
            }
        }
        if let error = information.error { unit.problems.append("SEI: \(error)") }
    }

    private mutating func readSlice(
        _ nalUnit: RawSpan, _ header: NALUnitHeader, _ unit: inout UnitReading
    ) {
        do throws(SyntaxError) {
            let (slice, format) = try SliceFacts.read(nalUnit, header, parameterSets)
            let order = collector.awaitsSlice ? orderCounter.next(nalUnit, parameterSets) : nil
            unit.problems += collector.add(slice, isSecondField: detector.isSecondField, order: order)
            unit.slice = NALUnitRecord.Slice(
                type: slice.type, kind: slice.kind, frame_num: slice.frame_num,
                pic_order_cnt_lsb: slice.pic_order_cnt_lsb)
            if let format {
                adopt(format, &unit)
            } else {
                unit.problems.append("a slice refers to parameter sets that are not there")
            }
        } catch {
            collector.addUnreadableSlice()
            unit.problems.append("\(header.shortName): \(error)")
        }
    }

    /// Adopts the format of the picture being read, and reports a change.
    private mutating func adopt(_ format: StreamFormat, _ unit: inout UnitReading) {
        guard format != latestFormat else { return }
        if let latestFormat, !latestFormat.isCompatible(with: format) {
            unit.problems.append(
                "the pictures change to \(format.width)x\(format.height) \(format.chromaFormat)")
        }
        if let latestFormat, latestFormat.frameRate != format.frameRate {
            let rate = format.frameRate.map { "\($0.numerator)/\($0.denominator)" } ?? "nothing"
            unit.problems.append("the VUI changes its frame rate to \(rate)")
        }
        if self.format == nil {
            self.format = format
            collector.meter = format.frameRate.flatMap {
                BitRateMeter(framesPerSecond: $0.framesPerSecond * (format.isFieldSequence ? 2 : 1))
            }
        }
        latestFormat = format
    }
}

// MARK: - Records of NAL units

/// The report on one NAL unit while a stream is inspected.
public struct NALUnitRecord: Sendable {
    /// The elements of a slice header.
    public struct Slice: Equatable, Sendable {
        /// `I`, `P`, `B`, `SP` or `SI`; `nil` in dependent slice segments and headers without a type.
        public let type: String?
        /// The kind of prediction.
        public let kind: PictureKind
        /// `frame_num` (H.264); `nil` in H.265 and without the sequence parameter set.
        public let frame_num: Int?
        /// The low bits of the picture order count; `nil` if the slice has none.
        public let pic_order_cnt_lsb: Int?
    }

    /// Position in the stream of the unit's start code or length field.
    public let offset: Int
    /// Length of the start code (3 or 4) or of the length field (1, 2 or 4) in bytes.
    public let prefixLength: Int
    /// The size of the unit in bytes, without the start code or length field.
    public let byteCount: Int
    /// The unit's header; `nil` if the unit is shorter than a header.
    public let header: NALUnitHeader?
    /// Whether the unit is the first of an access unit.
    public let beginsAccessUnit: Bool
    /// The slice header; `nil` in other units, and if unreadable.
    public let slice: Slice?
    /// The unit's syntax elements; `nil` unless the inspector collects them.
    public let structure: SyntaxStructure?
    /// The problems of the unit, in words.
    public let problems: [String]
}
