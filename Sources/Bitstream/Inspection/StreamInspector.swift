/// Reads a stream NAL unit by NAL unit and finds out what there is to know of it.
///
/// Units are lent one at a time and not kept; what is kept is 16 bytes an access unit, up to a limit, and the
/// distinct parameter sets. Any bytes are safe: what can't be read becomes a problem with its offset.
///
///     var inspector = StreamInspector(codec: .h264)
///     … { unit, bytes in print(inspector.inspect(bytes, at: unit.place)) }
///     inspector.finish(byteCount: …)
///     print(inspector.summary)
///
/// An inspector is a value and belongs to one thread at a time.
public struct StreamInspector: Sendable {
    /// Access units of which records are kept unless the caller sets another limit: 38 hours at 30 a second.
    public static let defaultPictureLimit = 1 << 22

    /// The standard that the stream is read by.
    public let codec: Codec
    /// Access units of which records are kept; later ones are only counted.
    public let pictureLimit: Int
    /// The access units that have ended, in stream order, up to the limit.
    public private(set) var pictures: [PictureRecord] = []

    private(set) var parameterSets: StreamParameterSets
    private(set) var catalogue = ParameterSetCatalogue()
    private(set) var messages = MessageCatalogue()
    private(set) var problems = StreamProblemList()
    private(set) var counts = Counts()
    private(set) var groups = GroupLengths()
    private(set) var order = PictureOrderTracker()
    private(set) var frameNumbers = FrameNumberTracker()
    private(set) var meter: BitRateMeter?
    /// What the sequence parameter set of the first picture says.
    private(set) var format: StreamFormat?
    private var latestFormat: StreamFormat?
    private var detector: AccessUnitDetector
    private var current: OpenPicture?

    /// Plain numbers.
    struct Counts: Sendable {
        var bytes = 0
        var nalUnits = 0
        var startCodes: [Int: Int] = [:]
        var unitTypes = [Int](repeating: 0, count: 64)
        var accessUnits = 0
        var fields = 0
        var idrs = 0
        var keyframes = 0
        var kinds = [Int](repeating: 0, count: PictureKind.allCases.count)
        var formatChanges = 0
        var reorderable = true
    }

    /// The access unit that is being read.
    private struct OpenPicture {
        let offset: Int
        var kind = PictureKind.unknown
        var isIDR = false
        var isRandomAccess = false
        var isField = false
        var hasRecoveryPoint = false
        var sliceCount = 0
    }

    /// Makes an inspector at the start of a stream.
    ///
    /// - Parameters:
    ///   - codec: the standard that the stream is coded by.
    ///   - pictureLimit: access units of which records are kept.
    public init(codec: Codec, pictureLimit: Int = Self.defaultPictureLimit) {
        self.codec = codec
        self.pictureLimit = pictureLimit
        parameterSets = StreamParameterSets(codec: codec)
        detector = AccessUnitDetector(codec: codec)
    }

    /// Reads the next NAL unit of the stream, given without start code.
    @discardableResult
    public mutating func inspect(_ nalUnit: RawSpan, at place: NALUnitPlace) -> NALUnitRecord {
        counts.nalUnits += 1
        counts.startCodes[place.prefixLength, default: 0] += 1
        var notes: [String] = []
        guard let header = NALUnitHeader(of: nalUnit, codec: codec) else {
            notes.append("a NAL unit is shorter than its header")
            return record(nalUnit, place, header: nil, begins: false, slice: nil, notes)
        }
        counts.unitTypes[header.nal_unit_type] += 1
        notes += header.oddities
        let begins = beginsAccessUnit(nalUnit, at: place)
        if header.isInParameterSetCatalogue { readParameterSet(nalUnit, header, at: place, &notes) }
        if header.isSupplementalEnhancementInformation { readMessages(nalUnit, &notes) }
        let slice = header.isSlice ? readSlice(nalUnit, header, &notes) : nil
        return record(nalUnit, place, header: header, begins: begins, slice: slice, notes)
    }

    /// Notes something odd that is no NAL unit.
    public mutating func note(_ message: String, at offset: Int) { problems.note(message, at: offset) }

    /// Ends the stream, which has this many bytes.
    public mutating func finish(byteCount: Int) {
        counts.bytes = byteCount
        endPicture(at: byteCount)
    }

    private mutating func record(
        _ nalUnit: RawSpan, _ place: NALUnitPlace, header: NALUnitHeader?, begins: Bool,
        slice: NALUnitRecord.Slice?, _ notes: [String]
    ) -> NALUnitRecord {
        for note in notes { problems.note(note, at: place.offset) }
        counts.bytes = place.offset + place.prefixLength + nalUnit.byteCount
        return NALUnitRecord(
            offset: place.offset, prefixLength: place.prefixLength, byteCount: nalUnit.byteCount,
            header: header, beginsAccessUnit: begins, slice: slice, problems: notes)
    }
}
