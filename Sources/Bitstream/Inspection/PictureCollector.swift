import CamPlatform

/// Groups slices into pictures, and counts and measures them.
struct PictureCollector: Sendable {
    /// The number of pictures whose records are kept.
    let limit: Int
    private(set) var pictures: [PictureRecord] = []
    /// The number of all pictures, with or without a record; each field is a picture.
    private(set) var count = 0
    private(set) var secondFieldCount = 0
    private(set) var idrCount = 0
    private(set) var intraIDRCount = 0
    private(set) var keyframeCount = 0
    private(set) var byteCount = 0
    /// The position of the first picture if it is not a keyframe.
    private(set) var unusableBeginning: Int?
    /// The numbers of pictures by the raw value of their kind.
    private(set) var kindCounts = [Int](repeating: 0, count: PictureKind.allCases.count)
    private(set) var groups = GroupLengths()
    private(set) var outputOrder = StreamSummary.OutputOrder.unknown
    var meter: BitRateMeter?
    /// The capture times in the pictures; nil if none has one.
    private(set) var captureTimes: CaptureTimes?

    /// The highest picture order count since the coded video sequence began.
    private var highestOrderCount: Int?
    private var frameNumbers = FrameNumberTracker()
    private var current: OpenPicture?

    /// The access unit that is being read.
    private struct OpenPicture {
        let offset: Int
        var kind = PictureKind.unknown
        var isIDR = false
        var isRandomAccess = false
        var isSecondField = false
        var hasRecoveryPoint = false
        var captureTime: WallTime?
        var sliceCount = 0
    }

    init(limit: Int) { self.limit = limit }

    /// The most bits in a second; `nil` if unknown.
    var peakBitRate: Double? { meter?.peakBitRate }

    /// Ends the previous access unit, if any, and begins the next.
    mutating func begin(at offset: Int) {
        end(at: offset)
        current = OpenPicture(offset: offset)
    }

    /// Records that the access unit being read has a recovery point message.
    mutating func addRecoveryPoint() { current?.hasRecoveryPoint = true }

    /// Records the capture time of the access unit being read.
    mutating func add(captureTime: WallTime) { current?.captureTime = captureTime }

    /// Records that the access unit being read has an unreadable slice.
    mutating func addUnreadableSlice() { current?.sliceCount += 1 }

    /// Whether the next slice is the first slice of its picture.
    var awaitsSlice: Bool { current?.sliceCount == 0 }

    /// - Parameter order: the place of the slice's picture in output order, if known; only used with the
    ///   first slice of a picture.
    /// - Returns: the problems of the slice, in words.
    mutating func add(
        _ slice: SliceFacts, isSecondField: Bool, order: PictureOrderCounter.Order?
    ) -> [String] {
        guard var picture = current else { return [] }
        var notes: [String] = []
        if picture.sliceCount == 0 {
            picture.isIDR = slice.isIDR
            picture.isRandomAccess = slice.isRandomAccess
            picture.isSecondField = isSecondField
            if !slice.isFirst { notes.append("a picture lacks its first slice") }
            if hasGap(ahead: slice) { notes.append("frame_num jumps: pictures are missing") }
            if let order { track(order) }
        }
        picture.sliceCount += 1
        picture.kind = picture.kind.joined(with: slice.kind)
        current = picture
        return notes
    }

    /// Ends the access unit being read, if any, at this position in the stream.
    mutating func end(at end: Int) {
        guard let picture = current, picture.sliceCount > 0 else { return }
        current = nil
        let record = PictureRecord(
            offset: picture.offset, byteCount: end - picture.offset, kind: picture.kind, isIDR: picture.isIDR,
            isKeyframe: picture.isRandomAccess || (picture.hasRecoveryPoint && picture.kind == .intra),
            isSecondField: picture.isSecondField)
        count += 1
        byteCount += end - picture.offset
        kindCounts[Int(record.kind.rawValue)] += 1
        if record.isIDR { idrCount += 1 }
        if record.isIDR, record.kind == .intra { intraIDRCount += 1 }
        if record.isKeyframe { keyframeCount += 1 }
        if record.isSecondField { secondFieldCount += 1 }
        groups.add(isKeyframe: record.isKeyframe, isSecondField: record.isSecondField)
        meter?.add(byteCount: end - picture.offset, isSecondField: record.isSecondField)
        if let time = picture.captureTime {
            captureTimes = captureTimes ?? CaptureTimes(first: time)
            captureTimes?.add(time, isKeyframe: record.isKeyframe, byteCount: record.byteCount)
        }
        if pictures.count < limit { pictures.append(record) }
        if count == 1, !record.isKeyframe { unusableBeginning = record.offset }
    }

    private mutating func hasGap(ahead slice: SliceFacts) -> Bool {
        guard let number = slice.frame_num, slice.maxFrameNum > 0 else { return false }
        let hasGap = frameNumbers.add(
            number, modulus: slice.maxFrameNum, isIDR: slice.isIDR, isReference: slice.isReference)
        return hasGap && !slice.allowsFrameNumberGaps
    }

    private mutating func track(_ order: PictureOrderCounter.Order) {
        let highest = order.beginsSequence ? nil : highestOrderCount
        if outputOrder == .unknown { outputOrder = .decoding }
        if let highest, order.count < highest { outputOrder = .reordered }
        highestOrderCount = max(highest ?? order.count, order.count)
    }
}

extension PictureKind {
    /// The kind of a picture with slices of both kinds.
    fileprivate func joined(with other: PictureKind) -> PictureKind {
        self == .unknown ? other : other == .unknown ? self : rawValue > other.rawValue ? self : other
    }
}

// MARK: - Capture times

/// The capture times that pictures carry in SEI messages (MISB ST 0604).
public struct CaptureTimes: Sendable {
    /// The times of the first and of the latest picture in stream order that has one.
    public let first: WallTime
    public private(set) var last: WallTime
    /// The number of pictures with a time.
    public private(set) var count = 0
    private var pictures = PictureTiming()

    init(first: WallTime) { (self.first, last) = (first, first) }

    mutating func add(_ time: WallTime, isKeyframe: Bool, byteCount: Int) {
        last = time
        count += 1
        pictures.add(time: time - first, isKeyframe: isKeyframe, byteCount: byteCount)
    }

    /// The rates and the duration by the times; nil with fewer than two pictures.
    package var timing: PictureTiming.Result? {
        var pictures = pictures
        pictures.finish()
        return pictures.result
    }
}

// MARK: - Records of pictures

/// The record of one access unit, in 16 bytes: a day of video has a few million access units.
public struct PictureRecord: Equatable, Sendable {
    /// Position in the stream of the access unit's first byte, start code included.
    public let offset: Int
    private let size: UInt32
    /// The kind of prediction.
    public let kind: PictureKind
    private let flags: Flags

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let idr = Flags(rawValue: 1)
        static let keyframe = Flags(rawValue: 2)
        static let secondField = Flags(rawValue: 4)
    }

    /// Creates a record; a size of more than 4 GiB is stored as 4 GiB.
    init(offset: Int, byteCount: Int, kind: PictureKind, isIDR: Bool, isKeyframe: Bool, isSecondField: Bool) {
        self.offset = offset
        size = UInt32(clamping: byteCount)
        self.kind = kind
        var flags: Flags = []
        if isIDR { flags.insert(.idr) }
        if isKeyframe { flags.insert(.keyframe) }
        if isSecondField { flags.insert(.secondField) }
        self.flags = flags
    }

    /// The number of bytes up to the next access unit, with all units and start codes.
    public var byteCount: Int { Int(size) }
    /// Whether the picture is an IDR picture.
    public var isIDR: Bool { flags.contains(.idr) }
    /// Whether decoding can begin with the picture: an IDR, CRA or BLA picture, or an intra picture with a
    /// recovery point.
    public var isKeyframe: Bool { flags.contains(.keyframe) }
    /// Whether the picture is the second field of a frame, whose first field is the previous access unit.
    public var isSecondField: Bool { flags.contains(.secondField) }
}

/// The kind of prediction in a picture, determined by its most complex slice.
public enum PictureKind: UInt8, Sendable, CaseIterable {
    /// Prediction within the picture only.
    case intra
    /// Prediction from one other picture at a time.
    case predicted
    /// Prediction from one or two other pictures at a time.
    case bidirectional
    /// Unknown, because all slices are unreadable.
    case unknown
}

extension PictureKind: CustomStringConvertible {
    /// `I`, `P`, `B` or `?`.
    public var description: String {
        switch self {
        case .intra: "I"
        case .predicted: "P"
        case .bidirectional: "B"
        case .unknown: "?"
        }
    }
}

// MARK: - Slices

/// The elements of a slice header that the inspection needs, for either codec.
struct SliceFacts {
    /// `I`, `P`, `B`, `SP` or `SI`; `nil` if the header has no type.
    let type: String?
    let kind: PictureKind
    /// Whether the slice is the first slice of its picture.
    let isFirst: Bool
    let isIDR: Bool
    /// Whether decoding can begin with the picture, judging by the type of its units.
    let isRandomAccess: Bool
    let isReference: Bool
    var frame_num: Int?
    var maxFrameNum = 0
    /// Whether gaps in `frame_num` are allowed, and mean no loss.
    var allowsFrameNumberGaps = true
    var pic_order_cnt_lsb: Int?
}

extension SliceFacts {
    /// The facts of an H.264 slice (7.3.3).
    init(
        _ slice: H264.SliceHeader, _ header: H264.NALUnitHeader, _ parameters: H264.SequenceParameterSet?
    ) {
        (type, kind) =
            switch slice.kind {
            case .i: ("I", .intra)
            case .si: ("SI", .intra)
            case .p: ("P", .predicted)
            case .sp: ("SP", .predicted)
            case .b: ("B", .bidirectional)
            }
        isFirst = slice.first_mb_in_slice == 0
        isIDR = header.nal_unit_type == .idrSlice
        isRandomAccess = isIDR
        isReference = header.nal_ref_idc != 0
        frame_num = slice.picture?.frame_num
        guard let parameters, let picture = slice.picture else { return }
        maxFrameNum = 1 << (parameters.log2_max_frame_num_minus4 + 4)
        allowsFrameNumberGaps = parameters.gaps_in_frame_num_value_allowed_flag
        pic_order_cnt_lsb = picture.pic_order_cnt_lsb
    }
}

extension SliceFacts {
    /// The facts of an H.265 slice segment (7.3.6.1).
    init(_ segment: H265.SliceHeader, _ header: H265.NALUnitHeader) {
        (type, kind) =
            switch segment.slice?.kind {
            case .i: ("I", .intra)
            case .p: ("P", .predicted)
            case .b: ("B", .bidirectional)
            case nil: (nil, .unknown)
            }
        let unitType = header.nal_unit_type
        isFirst = segment.first_slice_segment_in_pic_flag
        isIDR = unitType.isIDR
        isRandomAccess = unitType.isIntraRandomAccessPoint
        isReference = !unitType.isSubLayerNonReference
        pic_order_cnt_lsb = segment.slice?.slice_pic_order_cnt_lsb
    }
}

extension SliceFacts {
    /// Reads a slice of either codec, and the picture's format from the sequence parameter set, if known.
    static func read(
        _ nalUnit: RawSpan, _ header: NALUnitHeader, _ sets: StreamParameterSets
    ) throws(SyntaxError) -> (SliceFacts, StreamFormat?) {
        switch header {
        case .h264(let header):
            let start = try H264.SliceHeader(nalUnit)
            let (sequence, picture) = sets.h264.inForce(pic_parameter_set_id: start.pic_parameter_set_id)
            let slice = try H264.SliceHeader(
                nalUnit, sequenceParameterSet: sequence, pictureParameterSet: picture)
            return (SliceFacts(slice, header, sequence), sequence.map { StreamFormat($0) })
        case .hevc(let header):
            let start = try H265.SliceHeader(nalUnit)
            let (sequence, picture) = sets.hevc.inForce(
                slice_pic_parameter_set_id: start.slice_pic_parameter_set_id)
            let segment = try H265.SliceHeader(
                nalUnit, sequenceParameterSet: sequence, pictureParameterSet: picture)
            return (SliceFacts(segment, header), sequence.map { StreamFormat($0) })
        }
    }
}

// MARK: - Groups of pictures

/// The lengths of groups of pictures, from one keyframe to the next.
struct GroupLengths: Sendable {
    private var shortest: Int?
    private var longest: Int?
    private var current: Int?

    mutating func add(isKeyframe: Bool, isSecondField: Bool) {
        if isKeyframe {
            if let current {
                shortest = min(shortest ?? current, current)
                longest = max(longest ?? current, current)
            }
            current = 0
        }
        current = current.map { $0 + (isSecondField ? 0 : 1) }
    }

    /// The shortest and longest length in frames, of the groups that ended with a keyframe or of the only
    /// group.
    var range: ClosedRange<Int>? {
        guard let shortest = shortest ?? current, let longest = longest ?? current else { return nil }
        return shortest...longest
    }
}
