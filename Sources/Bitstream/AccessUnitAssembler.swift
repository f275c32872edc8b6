import CamPlatform

/// Assembles NAL units into access units, byte for byte.
///
/// The result does not depend on where chunks of a byte stream end. Parameter sets, SEI and slices of one picture leave
/// together. The end of a picture is known only when the first bytes of the next picture arrive, so assembling delays a
/// stream by one picture, unless the caller anticipates the end. Memory is bounded, and any input is safe: the assembler
/// leaves out what cannot belong to a picture, and marks the picture.
///
/// Use it in one thread at a time.
public final class AccessUnitAssembler {
    /// The default for the largest accepted access unit, in bytes.
    public static let defaultByteLimit = 16 << 20
    /// More bytes than a slice header needs for the fields that show where a picture begins. Looking no further keeps
    /// the cost of a chunk constant, however many chunks a unit comes in.
    private static let peekLength = 64

    /// The stream's coding standard.
    public let codec: Codec
    private let byteLimit: Int
    private var parser: AnnexBParser
    private var detector: AccessUnitDetector
    private var gapDetector = FrameNumberGapDetector()
    private var orderCounter = PictureOrderCounter()
    private var sets: SetsInForce
    private var facts = Facts()
    private var current = UnitCollection()
    /// The access unit that `body` reads.
    private var delivered = UnitCollection()
    /// Units that belong to the access unit of the next unit.
    private var undecided = Undecided()
    /// A copy of the current access unit and the beginning of its last slice.
    private var anticipated = UnitCollection()
    private var number = 0

    /// Creates an assembler at the start of a stream.
    /// - Parameter byteLimit: the largest accepted access unit, in bytes, at least 1: a longer one loses the NAL units
    ///   beyond. An assembler uses up to four times as much memory.
    public init(codec: Codec, byteLimit: Int = AccessUnitAssembler.defaultByteLimit) {
        (self.codec, self.byteLimit) = (codec, byteLimit)
        parser = AnnexBParser(maximumUnitByteCount: byteLimit)
        detector = AccessUnitDetector(codec: codec)
        sets = SetsInForce(codec: codec)
    }

    /// Adds the next bytes of an Annex B stream, and calls `body` for each access unit that is known to have ended.
    /// - Parameter arrival: when they arrived; passed on with the access units that begin in them.
    /// - Throws: what `body` throws; the assembler is of no further use then.
    public func add<Failure: Error>(
        _ chunk: RawSpan, arrival: Instant? = nil,
        _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        try parser.parse(chunk) { (result, nalUnit) throws(Failure) in
            try add(result, nalUnit, arrival: arrival, body)
        }
        try parser.withPendingBytes { (unit, nalUnit) throws(Failure) in
            try peek(nalUnit, Origin(offset: unit.startCodeOffset, arrival: arrival), body)
        }
    }

    /// Adds the next NAL unit of a stream that states where its units end.
    /// - Parameters:
    ///   - nalUnit: the unit, without start code.
    ///   - offset: its position in the stream.
    ///   - arrival: when it arrived, or its time in the stream; passed on with the access unit that begins with it.
    ///   - isDamaged: whether its access unit counts as damaged.
    /// - Throws: what `body` throws; the assembler is of no further use then.
    public func add<Failure: Error>(
        nalUnit: RawSpan, at offset: Int, arrival: Instant? = nil, isDamaged: Bool = false,
        _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        let piece = Piece(origin: Origin(offset: offset, arrival: arrival), isDamaged: isDamaged)
        try place(nalUnit, piece, body)
    }

    /// Passes the unfinished access unit, as far as it has arrived: after a pause of the stream it is likely to be
    /// complete. Whether it was is known when it is delivered, under the same number: it then has the same
    /// `pictureByteCount`. `body` is not called if the access unit contains no picture, or not the beginning of one.
    /// - Throws: what `body` throws.
    public func anticipate<Failure: Error>(
        _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        try parser.withPendingBytes { (unit, nalUnit) throws(Failure) in
            try anticipate(nalUnit, startCodeLength: unit.startCodeLength, body)
        }
    }

    /// Ends the stream, and calls `body` for its last access unit. Another stream may follow, or the same one if a pause
    /// proved that the access unit is complete: parameter sets stay in force.
    /// - Throws: what `body` throws.
    public func finish<Failure: Error>(
        arrival: Instant? = nil, _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        try parser.finish { (result, nalUnit) throws(Failure) in
            try add(result, nalUnit, arrival: arrival, body)
        }
        adoptUndecided()
        try deliver(body)
    }

    /// Discards the unfinished access unit, whose rest will never come. The next one follows a loss.
    public func abandon() {
        parser = AnnexBParser(maximumUnitByteCount: byteLimit)
        current.removeAll()
        undecided.removeAll()
        facts = Facts()
        facts.followsGap = true
    }
}

// MARK: - Units in

extension AccessUnitAssembler {
    /// A NAL unit's place, and how it is kept.
    private struct Piece {
        let origin: Origin
        var startCodeLength = AccessUnit.startCodeLength
        var trailingZeroCount = 0
        /// Whether the bytes are all there.
        var isWhole = true
        var isDamaged = false
    }

    /// Adds the parser's next unit.
    private func add<Failure: Error>(
        _ result: Result<AnnexBParser.Unit, AnnexBError>, _ nalUnit: RawSpan, arrival: Instant?,
        _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        switch result {
        case .success(let unit):
            let piece = Piece(
                origin: Origin(offset: unit.startCodeOffset, arrival: arrival),
                startCodeLength: unit.startCodeLength, trailingZeroCount: unit.trailingZeroCount)
            try place(nalUnit, piece, body)
        case .failure(let error):
            switch error.reason {
            case .emptyUnit: break
            case .bytesOutsideUnits: facts.followsGap = true
            case .unitTooLarge:
                let origin = Origin(offset: error.unit.startCodeOffset, arrival: arrival)
                try place(nalUnit, Piece(origin: origin, isWhole: false), body)
            }
        }
    }

    /// Delivers the current access unit if a unit, whose first bytes are known, begins another one.
    private func peek<Failure: Error>(
        _ nalUnit: RawSpan, _ origin: Origin, _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        let isOpen = current.count > 0 || facts.lacksUnits
        guard isOpen, undecided.bytes.count == 0, !nalUnit.isEmpty else { return }
        guard detector.peek(nalUnit.extracting(first: Self.peekLength)) == .begins else { return }
        try deliver(body)
        facts.origin = origin
    }

    /// Determines which access unit a NAL unit belongs to, and adds it there.
    private func place<Failure: Error>(
        _ nalUnit: RawSpan, _ piece: Piece, _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        switch detector.next(nalUnit) {
        case .undecided:
            undecided.origin = undecided.origin ?? piece.origin
            if piece.isDamaged { undecided.isDamaged = true }
            if !undecided.bytes.append(startCodeLength: AccessUnit.startCodeLength, nalUnit, limit: byteLimit)
            {
                facts.lacksUnits = true
            }
            return
        case .begins: try deliver(body)
        case .continues: break
        }
        facts.origin = facts.origin ?? undecided.origin ?? piece.origin
        adoptUndecided()
        note(nalUnit)
        if piece.isDamaged { facts.isDamaged = true }
        let end = current.count + piece.startCodeLength + nalUnit.byteCount
        if !piece.isWhole || !keep(nalUnit, piece) { facts.lacksUnits = true }
        if NALUnitHeader(of: nalUnit, codec: codec)?.isSlice == true {
            facts.pictureByteCount = min(end, current.count)
        }
    }

    /// Adds a unit to the current access unit; if it has no room for the zeros after the unit, without them.
    private func keep(_ nalUnit: RawSpan, _ piece: Piece) -> Bool {
        current.append(
            startCodeLength: piece.startCodeLength, nalUnit, trailingZeroCount: piece.trailingZeroCount,
            limit: byteLimit)
            || current.append(startCodeLength: piece.startCodeLength, nalUnit, limit: byteLimit)
    }

    private func adoptUndecided() {
        defer { undecided.removeAll() }
        if undecided.isDamaged { facts.isDamaged = true }
        guard undecided.bytes.count > 0 else { return }
        facts.origin = facts.origin ?? undecided.origin
        if !current.append(undecided.bytes, limit: byteLimit) { facts.lacksUnits = true }
    }

    /// Records what the unit reveals about its access unit.
    private func note(_ nalUnit: RawSpan) {
        guard let header = NALUnitHeader(of: nalUnit, codec: codec) else { return }
        if header.isParameterSet { sets.note(nalUnit, detector) }
        if !facts.hasPicture, header.isSupplementalEnhancementInformation,
            let point = SupplementalEnhancementInformation.recoveryPoint(in: nalUnit, header.codec)
        {
            facts.recoveryPoint = point
        }
        guard header.isSlice else { return }
        facts.noteSlice(nalUnit, header, detector, &orderCounter)
        if EmulationPrevention.isBroken(in: nalUnit) { facts.hasImpossibleBytes = true }
        if gapDetector.followsGap(nalUnit, parameterSets: detector.parameterSets) { facts.followsGap = true }
    }
}

// MARK: - Access units out

extension AccessUnitAssembler {
    /// Delivers the current access unit as if it ended with a slice that may be incomplete.
    private func anticipate<Failure: Error>(
        _ slice: RawSpan, startCodeLength: Int,
        _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        guard undecided.bytes.count == 0, let header = NALUnitHeader(of: slice, codec: codec), header.isSlice
        else { return }
        // Works on copies, because the complete slice will report the same again.
        var (detector, gapDetector, orderCounter, facts) = (detector, gapDetector, orderCounter, facts)
        guard detector.next(slice) == (current.count == 0 ? .begins : .continues) else { return }
        anticipated.removeAll()
        guard anticipated.append(current, limit: byteLimit),
            anticipated.append(startCodeLength: startCodeLength, slice, limit: byteLimit)
        else { return }
        facts.noteSlice(slice, header, detector, &orderCounter)
        facts.pictureByteCount = anticipated.count
        if gapDetector.followsGap(slice, parameterSets: detector.parameterSets) { facts.followsGap = true }
        try body(unit(facts, anticipated))
    }

    private func deliver<Failure: Error>(
        _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        guard current.count > 0 else { return giveUpEmpty() }
        // What is delivered does not change, whatever `body` does.
        delivered.removeAll()
        swap(&delivered, &current)
        let unit = unit(facts, delivered)
        number += 1
        facts = Facts()
        try body(unit)
        _ = consume unit
        delivered.removeAll()
    }

    /// If every NAL unit of an access unit was too large, only its absence can be reported.
    private func giveUpEmpty() {
        guard facts.lacksUnits else { return }
        facts = Facts()
        (facts.followsGap, facts.followsOmission) = (true, true)
    }

    private func unit(_ facts: Facts, _ units: UnitCollection) -> ReceivedAccessUnit {
        ReceivedAccessUnit(
            number: number, facts: facts, parameterSets: sets.usable, format: sets.format,
            allowsThreads: sets.allowsThreads,
            reordering: facts.role.allowsEntry ? detector.parameterSets.reordering : nil,
            bytes: units.bytes)
    }
}

/// The bytes of one coded picture as received, and the facts that a decoder needs first. Valid only during
/// the call by the `AccessUnitAssembler`.
public struct ReceivedAccessUnit: ~Copyable {
    /// The position in the stream, from 0; each field is an access unit.
    public let number: Int
    fileprivate let facts: AccessUnitAssembler.Facts
    /// The parameter sets in force after it, byte for byte, except those that refer to a missing one.
    public let parameterSets: ParameterSets
    /// The format in the latest sequence parameter set; `nil` if none could be read.
    public let format: StreamFormat?
    /// Whether libavcodec may decode its slices on several threads. FFmpeg 5.1's decoder of H.265 crashes if
    /// Rice parameters persist (`persistent_rice_adaptation_enabled_flag`) and a slice has rows, but no entry
    /// points, for wavefronts: it looks for the previous row's state in a thread that it never created
    /// (hevc_cabac.c, `load_states`).
    public let allowsThreads: Bool
    /// The output order that the stream declares, if decoding can begin here; otherwise `nil`.
    public let reordering: PictureReordering?
    /// The bytes, which a decoder may keep.
    package let bytes: CodedBytes

    /// Whether the access unit has a slice, even a damaged one.
    public var hasPicture: Bool { facts.hasPicture }
    /// The relation of the picture to others, from its first slice.
    public var role: PictureRole { facts.role }
    /// Its place in output order; `nil` if no slice states it.
    public var order: PictureOrderCounter.Order? { facts.order }
    /// Whether this is the second field of a frame, by the first slice that states its order.
    public var isSecondField: Bool { facts.isSecondField }
    /// Whether the stream lacks pictures to which this one may refer.
    public var followsGap: Bool { facts.followsGap }
    /// Whether an access unit before it is missing, because all of its NAL units were too large.
    public var followsOmission: Bool { facts.followsOmission }
    /// Whether some of its NAL units are missing or contain impossible bytes.
    public var isIncomplete: Bool { facts.lacksUnits || facts.hasImpossibleBytes }
    /// Whether some of its NAL units are missing, because the access unit is larger than the limit.
    public var lacksUnits: Bool { facts.lacksUnits }
    /// Whether the caller called one of its NAL units damaged.
    public var isDamaged: Bool { facts.isDamaged }
    /// The position of its first byte in the stream.
    public var offset: Int { facts.origin?.offset ?? 0 }
    /// When its first byte arrived, on the caller's clock; nil if the caller did not say.
    public var arrival: Instant? { facts.origin?.arrival }
    /// The number of bytes, start codes included.
    public var byteCount: Int { bytes.count }
    /// The number of bytes up to the end of its last slice.
    public var pictureByteCount: Int { facts.pictureByteCount }

    /// Whether decoding can begin here: an IDR picture, or one of H.265's other random access points (BLA,
    /// CRA), whose undecodable leading pictures libavcodec drops.
    public var isEntryPoint: Bool { role.isEntryPoint }

    /// Provides access to the bytes, including start codes, which must not be used after the call.
    public func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(bytes.content)
    }
}

// MARK: - Facts

extension AccessUnitAssembler {
    /// Where an access unit begins.
    fileprivate struct Origin {
        let offset: Int
        let arrival: Instant?
    }

    /// The facts about one access unit, as far as it is known.
    fileprivate struct Facts {
        var origin: Origin?
        var hasPicture = false
        var role = PictureRole()
        var order: PictureOrderCounter.Order?
        var isSecondField = false
        /// From the units before the picture.
        var recoveryPoint: RecoveryPoint?
        var followsGap = false
        var followsOmission = false
        var lacksUnits = false
        var hasImpossibleBytes = false
        var isDamaged = false
        var pictureByteCount = 0

        mutating func noteSlice(
            _ slice: RawSpan, _ header: NALUnitHeader, _ detector: AccessUnitDetector,
            _ orderCounter: inout PictureOrderCounter
        ) {
            if order == nil {
                order = orderCounter.next(slice, detector.parameterSets)
                isSecondField = detector.isSecondField
            }
            defer { hasPicture = true }
            guard !hasPicture else { return }
            role = PictureRole(of: slice, header, detector)
            role.order = order?.count
            guard !role.isEntryPoint, !role.isSecondField else { return }
            role.recoveryPoint = recoveryPoint.flatMap { detector.parameterSets.allows($0) ? $0 : nil }
        }
    }

    /// Units whose access unit is not known yet.
    private struct Undecided {
        var bytes = UnitCollection()
        var origin: Origin?
        var isDamaged = false

        mutating func removeAll() {
            bytes.removeAll()
            (origin, isDamaged) = (nil, false)
        }
    }

    /// The parameter sets in force, and what they mean for a decoder.
    private struct SetsInForce {
        private var all: ParameterSets
        /// Those that a picture can use.
        private(set) var usable: ParameterSets
        /// The format in the sequence parameter set in force.
        private(set) var format: StreamFormat?
        /// Whether no sequence parameter set so far makes threads unsafe, or might.
        private(set) var allowsThreads = true

        init(codec: Codec) {
            all = ParameterSets(codec: codec)
            usable = all
        }

        /// - Parameter detector: the detector that has processed the set.
        mutating func note(_ set: RawSpan, _ detector: AccessUnitDetector) {
            if !detector.isSafeOnThreads { allowsThreads = false }
            // An unreadable set leaves the previous one in force.
            guard (try? all.insert(set)) == true else { return }
            format = detector.parameterSets.latestFormat
            usable = all.withoutOrphans
        }
    }
}

extension StreamParameterSets {
    /// Whether a recovery point is valid: `recovery_frame_cnt` is below MaxFrameNum (H.264, D.2.8).
    fileprivate func allows(_ point: RecoveryPoint) -> Bool {
        guard codec == .h264, let sequence = h264.latestSequence else { return true }
        return point.count < 1 << (sequence.log2_max_frame_num_minus4 + 4)
    }
}

extension AccessUnitDetector {
    /// Whether libavcodec may decode on several threads with the last parameter set. libavcodec may be able
    /// to read a set that cannot be read here.
    fileprivate var isSafeOnThreads: Bool {
        let sequence = parameterSets.hevc.latestSequence
        return parameterSets.codec == .h264
            || parameterSetError == nil
                && sequence?.extensions?.range?.persistent_rice_adaptation_enabled_flag != true
    }
}
