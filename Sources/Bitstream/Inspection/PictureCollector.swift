/// Groups slices into pictures, and counts and measures them.
struct PictureCollector: Sendable {
    /// The number of pictures whose records are kept.
    let limit: Int
    private(set) var pictures: [PictureRecord] = []
    /// All pictures, kept or not: fields count as pictures.
    private(set) var count = 0
    private(set) var secondFieldCount = 0
    private(set) var idrCount = 0
    private(set) var intraIDRCount = 0
    private(set) var keyframeCount = 0
    private(set) var byteCount = 0
    /// The position of the first picture, if decoding can't begin with it.
    private(set) var unusableBeginning: Int?
    /// By the raw value of their kind.
    private(set) var kindCounts = [Int](repeating: 0, count: PictureKind.allCases.count)
    private(set) var groups = GroupLengths()
    private(set) var outputOrder = StreamSummary.OutputOrder.unknown
    var meter: BitRateMeter?

    /// The highest of the pictures since the coded video sequence began.
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
        var sliceCount = 0
    }

    init(limit: Int) { self.limit = limit }

    /// Most bits in a second; `nil` if that is not known.
    var peakBitRate: Double? { meter?.peakBitRate }

    /// Ends the previous access unit, if any, and begins the next.
    mutating func begin(at offset: Int) {
        end(at: offset)
        current = OpenPicture(offset: offset)
    }

    /// The access unit being read has a recovery point message.
    mutating func addRecoveryPoint() { current?.hasRecoveryPoint = true }

    /// The access unit being read has a slice that can't be read.
    mutating func addUnreadableSlice() { current?.sliceCount += 1 }

    /// Whether the next slice is the first of its picture.
    var awaitsSlice: Bool { current?.sliceCount == 0 }

    /// - Parameter order: the place of the slice's picture in output order, if known; only used with the
    ///   first slice of a picture.
    /// - Returns: what is odd about the slice.
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
    /// The kind of a picture with slices of both.
    fileprivate func joined(with other: PictureKind) -> PictureKind {
        self == .unknown ? other : other == .unknown ? self : rawValue > other.rawValue ? self : other
    }
}
