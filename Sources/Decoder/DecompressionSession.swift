import CamAcceleration
@_exported import Bitstream
import CFFmpeg

/// A decompression session: access units in, pictures out, in output order. A GPU decodes if possible, otherwise
/// software.
///
///     try session.decode(accessUnit)
///     while let picture = try session.nextPicture() { … }
///
/// Decoding begins at the first entry point or recovery point. After a loss – a gap in the stream, a damaged
/// access unit, a complaint of libavcodec – the policy decides. When parameter sets change, another session
/// is opened. Any input is as safe as libavcodec, and a damaged stream is never an error.
///
/// Every access unit is counted in one of the counters: no picture is dropped silently.
///
/// Damage is noticed if libavcodec complains, if parts of a picture are not covered, or if a checksum in the
/// stream differs. Other damage is not detected: corrupted slice data that can still be decoded is shown
/// until the next entry point. In H.265 without checksums that is most damage.
///
/// If the stream declares that it does not reorder pictures, each access unit's picture is available as soon
/// as it is decoded. Use a decoder in one thread at a time. Our code allocates and copies nothing for a
/// picture except its reference.
public final class DecompressionSession {
    /// The decoder's configuration.
    public let configuration: DecoderConfiguration
    /// The outcomes of the access units so far.
    public private(set) var counters = Counters()
    /// The reason for the last loss, in words; nil if there was none.
    public private(set) var lastLoss: String?
    /// Whether the stream reordered pictures further than it declares, so that more are now held back.
    public private(set) var hasBrokenOrder = false
    /// The reasons why software decodes; empty if a GPU does, and before the first entry point.
    public private(set) var softwareReasons: [String] = []
    /// Whether a thread hangs in a GPU's driver: normal cleanup when the process ends may then hang as well.
    public private(set) var hasHungThread = false

    private var session: LibavDecoder?
    /// The previous session while its last pictures are still to come out.
    private var former: LibavDecoder?
    private var state = State.waiting
    private var hasLookedForGPU = false
    /// The GPU that decodes; nil if there is none or it failed.
    private var gpu: VADisplayConnection?
    /// The latest access unit decoded; if that is a second field, the one before it.
    private var latestNumber = 0
    /// Whether libavcodec complained about the latest access unit.
    private var hasComplaint = false
    /// The last entry point.
    private var entryNumber = 0
    /// Which pictures are not correct yet; nil if decoding began at an entry point.
    private var recovery: RecoveryPointTracker?
    /// Whether leading pictures that refer to earlier ones cannot be decoded after the last entry point.
    private var dropsLeading = false
    /// Pictures that are not output, although decoding has restarted after them.
    private var damaged = 0..<0
    /// The pictures decoded since the last entry point, if pictures may be anticipated.
    private var history = CodedHistory()
    private var anticipated: Anticipation?
    /// The access unit to decode again although its picture was already output.
    private var numberHandedOn: Int?
    /// How often an anticipated picture was incomplete, and for how many entry points no picture is
    /// anticipated as a result.
    private var mistakeCount = 0
    private var entriesToSkip = 0
    private let memory = PicturePool()
    private var shedder = LoadShedder()

    /// An access unit that was decoded before its end was known.
    private struct Anticipation {
        let number: Int
        let byteCount: Int
        let hasPicture: Bool
    }

    private enum State: Equatable {
        /// No entry point has been seen yet.
        case waiting
        case following
        /// Pictures from this access unit on are not output.
        case frozen(from: Int)
    }

    /// Creates a decoder, which opens a decoder of libavcodec at the first entry point.
    public init(_ configuration: DecoderConfiguration) { self.configuration = configuration }

    /// The render node that decodes; nil for software and before the first entry point.
    public var renderNode: String? { session?.connection?.node }

    /// Whether pictures are being left out until the next entry point.
    public var isFrozen: Bool { if case .frozen = state { true } else { false } }

    /// Whether pictures are being left out because of a loss, not because the stream was interrupted or has
    /// ended.
    public var isFrozenByLoss: Bool {
        if case .frozen(let number) = state { number >= 0 && number < .max } else { false }
    }

    /// Decodes an access unit, or skips it so that a late player catches up: first pictures that no other refers
    /// to; if that is not enough, everything up to the next entry point. Take all pending pictures first, with
    /// `nextPicture`.
    /// - Parameters:
    ///   - isHidden: whether its picture is decoded only because others refer to it.
    ///   - lateness: how late the player is.
    /// - Returns: false if it was skipped.
    /// - Throws: if no decoder is available.
    public func decode(
        _ unit: borrowing ReceivedAccessUnit, isHidden: Bool = false, lateness: Duration
    ) throws(DecoderError) -> Bool {
        let isSkipped = shedder.skips(unit.role, lateness: lateness)
        if isSkipped { try skip(unit) } else { try decode(unit, isHidden: isHidden) }
        return !isSkipped
    }

    /// Decodes an access unit. Take all pending pictures first, with `nextPicture`.
    /// - Parameter isHidden: whether its picture is decoded only because others refer to it.
    /// - Throws: if no decoder is available.
    public func decode(
        _ unit: borrowing ReceivedAccessUnit, isHidden: Bool = false
    ) throws(DecoderError) {
        guard unit.hasPicture else { return }
        counters.received += 1
        if try isSettled(unit) { return }
        if begins(at: unit) {
            if unit.followsGap, state == .following { noteLoss("pictures are missing from the stream") }
            try enter(unit)
        } else if state == .following, !unit.followsGap, let recovery, let point = unit.role.recoveryPoint,
            recovery.isLater(than: point, at: unit.role)
        {
            self.recovery = self.recovery(at: unit, countedAs: recovery.omission)
        } else if state == .waiting {
            counters.beforeEntry += 1
            return
        } else if unit.followsGap, !isFrozen {
            lose(from: unit.number, "pictures are missing from the stream")
        }
        if unit.isIncomplete, !isFrozen {
            lose(from: unit.number, "a picture's NAL units are damaged or larger than allowed")
        }
        if isFrozen {
            counters.frozen += 1
        } else if session?.takes(unit) == false {
            counters.lost += 1
            lose(from: unit.number, "a sequence parameter set arrived between keyframes")
        } else {
            let isUnrecovered = recovery?.hides(unit.role) == true
            let omission = isUnrecovered ? recovery?.omission : isHidden ? .withheld : nil
            let complaint = try send(unit, countedAs: omission)
            // A picture that refers to missing ones is not a loss before a recovery point. The first correct
            // picture may formally refer to pictures that only its predecessors need.
            let isExpected =
                session?.lacksReferences == true
                && (isUnrecovered || recovery != nil && unit.number == entryNumber)
            if isExpected {
                hasComplaint = false
            } else if let complaint {
                lose(from: latestNumber, complaint)
            }
        }
    }

    /// Decodes an access unit, and passes on each picture that comes out, in output order.
    /// - Throws: the receiver's error, or `DecoderError` if no decoder is available.
    public func decode(
        _ unit: borrowing ReceivedAccessUnit, _ show: (consuming DecodedPicture) throws -> Void
    ) throws {
        try decode(unit)
        while let picture = try nextPicture() { try show(picture) }
    }

    /// Passes on the pictures that are held back, at the end of a stream or before a jump in it. The next access unit
    /// must be an entry point.
    public func flush(_ show: (consuming DecodedPicture) throws -> Void) throws {
        drain()
        while let picture = try nextPicture() { try show(picture) }
    }

    /// Records an access unit that arrived but cannot be decoded. Pictures held back then come out: take them
    /// before the next access unit.
    /// - Parameter reason: what is wrong with it, in words.
    public func reject(because reason: String) {
        counters.received += 1
        switch state {
        case .waiting: counters.beforeEntry += 1
        case .frozen: counters.frozen += 1
        case .following:
            counters.lost += 1
            lose(from: latestNumber + 1, reason)
        }
    }

    /// Skips an access unit. If other pictures may refer to it, everything up to the next entry point is left
    /// out.
    func skip(_ unit: borrowing ReceivedAccessUnit) throws(DecoderError) {
        // Units that cannot be decoded have a counter for that, and anticipated ones already have their
        // picture.
        let isAnticipated = anticipated.map { $0.number == unit.number } ?? false
        guard unit.hasPicture, state != .waiting, !isFrozenByLoss, !isAnticipated else {
            return try decode(unit)
        }
        counters.received += 1
        counters.skipped += 1
        if unit.role.isDisposable { return }
        history.forget()
        drain()
    }

    /// Decodes an access unit that is probably, but not certainly, complete, so that its picture is available
    /// as early as possible. Follow it with `decode` for the complete unit, which does not return the picture
    /// again.
    ///
    /// A wrong guess costs time: a picture that libavcodec finds incomplete is not output, and the decoder's
    /// state is restored from the pictures since the last entry point. libavcodec accepts a few truncated
    /// slices in a hundred as complete; such a picture shows old blocks until the next one. To keep these
    /// rare on networks that split pictures, no picture is anticipated after a mistake for twice as many
    /// entry points as after the previous mistake.
    /// - Returns: nil if that is not possible: for H.265, because libavcodec's decoder does not report
    ///   missing slices; on a GPU, for the same reason; after a loss; and if pictures are or may be
    ///   reordered.
    public func anticipate(_ unit: borrowing ReceivedAccessUnit) throws(DecoderError) -> DecodedPicture? {
        guard configuration.codec == .h264, state == .following, former == nil, anticipated == nil,
            !unit.followsGap, !unit.isIncomplete, let session, session.connection == nil,
            session.delay == 0, session.reordering?.declaredDepth == 0,
            session.reordering?.hasFields != true,
            unit.isEntryPoint
                ? entriesToSkip == 0 && session.parameterSets == unit.parameterSets : history.isComplete
        else { return nil }
        latestNumber = unit.number
        let complaint = try session.send(unit)
        let received = try session.receive()
        let picture = received.frame.map { DecodedPicture(taking: $0) }
        let isWhole = complaint == nil && received.complaint == nil
        anticipated = Anticipation(
            number: unit.number, byteCount: unit.byteCount, hasPicture: isWhole && received.frame != nil)
        guard isWhole, let picture else { return nil }
        counters.decoded += 1
        return picture
    }

    /// Returns the next picture; nil if another access unit, or the end, must come first.
    public func nextPicture() throws(DecoderError) -> DecodedPicture? {
        while let session = former ?? session {
            let received: LibavDecoder.Received
            do throws(DecoderError) {
                received = try session.receive()
            } catch {
                try leaveHungGPU(error)
                return nil
            }
            if let complaint = received.complaint {
                note(complaint, of: received.isDamaged ? received.frame.map { Int($0.pointee.pts) } : nil)
            }
            if let frame = received.frame {
                if let picture = try admit(DecodedPicture(taking: frame), of: session) { return picture }
                continue
            }
            noteMissing(in: session)
            if former == nil { return nil }
            former = nil
        }
        return nil
    }

    /// Makes the pictures that are held back for reordering come out; call it at the end of a stream. The
    /// next access unit must be an entry point.
    public func drain() {
        session?.drain()
        (anticipated, numberHandedOn) = (nil, nil)
        if state == .following { state = .frozen(from: .max) }
    }

    /// Discards all pending pictures.
    public func discard() {
        for session in [former, session] { counters.unplayed += session?.pending.removeAll() ?? 0 }
        drain()
        former = nil
        if isFrozen { state = .frozen(from: .min) }
    }
}

extension DecompressionSession {
    /// Returns whether an access unit was already decoded completely; if not, undoes a partial decoding.
    private func isSettled(_ unit: borrowing ReceivedAccessUnit) throws(DecoderError) -> Bool {
        guard let anticipated = anticipated.take(), anticipated.number == unit.number else { return false }
        if anticipated.hasPicture, anticipated.byteCount == unit.byteCount {
            history.append(unit)
            return true
        }
        mistakeCount = min(mistakeCount + 1, 16)
        entriesToSkip = 1 << mistakeCount
        if unit.isEntryPoint { try session?.reopen() } else { try session?.restore(history) }
        history.forget()
        numberHandedOn = anticipated.hasPicture ? unit.number : nil
        return false
    }

    /// Whether decoding begins with an access unit. Continuing is better than starting at a recovery point.
    private func begins(at unit: borrowing ReceivedAccessUnit) -> Bool {
        guard unit.parameterSets.isComplete else { return false }
        if unit.isEntryPoint { return true }
        guard let point = unit.role.recoveryPoint else { return false }
        return state != .following || unit.followsGap || point.broken_link_flag
            || session?.parameterSets.sequence != unit.parameterSets.sequence
    }

    private func recovery(
        at unit: borrowing ReceivedAccessUnit, countedAs omission: Omission
    ) -> RecoveryPointTracker? {
        unit.role.recoveryPoint.map {
            RecoveryPointTracker(at: unit.role, $0, configuration.codec, countedAs: omission)
        }
    }

    /// Why pictures that are not correct yet are not output, if decoding begins with this access unit.
    private func omission(at unit: borrowing ReceivedAccessUnit) -> Omission {
        switch state {
        case .waiting: .beforeEntry
        case .frozen: .frozen
        case .following: unit.followsGap ? .frozen : .withheld
        }
    }

    /// Begins decoding at an entry point or a recovery point, with a session for its parameter sets.
    private func enter(_ unit: borrowing ReceivedAccessUnit) throws(DecoderError) {
        let isGPULost = session?.connection != nil && gpu == nil
        entryNumber = unit.number
        // H.265's decoder drops these at the first random access picture that it sees.
        dropsLeading = unit.role.breaksSequence || state != .following || recovery != nil
        recovery = unit.isEntryPoint ? nil : recovery(at: unit, countedAs: omission(at: unit))
        if recovery != nil { history.forget() }
        // After a recovery point in a running stream, the last pictures of the former session are still to
        // come out.
        let isOther = recovery != nil && state == .following
        let isUsable = session.map { $0.parameterSets == unit.parameterSets && $0.takes(unit) } ?? false
        if let session, !isOther, isUsable, !isGPULost, isFrozen || !session.isTainted {
            if isFrozen { try session.flush() }
        } else {
            dropsLeading = true
            session?.drain()
            former = session
            session = try open(unit)
        }
        session?.begin(amid: recovery != nil)
        state = .following
    }

    private func open(_ unit: borrowing ReceivedAccessUnit) throws(DecoderError) -> LibavDecoder {
        if !hasLookedForGPU {
            hasLookedForGPU = true
            let finding = DecodingGPU.find(configuration.acceleration, for: configuration.codec)
            (gpu, softwareReasons) = (finding.connection, finding.reasons)
            hasHungThread = finding.hasHungThread
        }
        if let gpu {
            do throws(DecoderError) {
                return try LibavDecoder(
                    configuration, entry: unit, leastDelay: leastDelay(of: unit), on: gpu)
            } catch {
                if case .driverHangs = error.kind { hasHungThread = true }
                giveUpGPU(because: error.description)
            }
        }
        return try LibavDecoder(configuration, entry: unit, leastDelay: leastDelay(of: unit), on: nil)
    }

    /// The number of pictures last held back, if the stream still declares the same reordering.
    private func leastDelay(of unit: borrowing ReceivedAccessUnit) -> Int {
        guard let session, session.reordering == unit.reordering else { return 0 }
        return session.delay
    }

    /// - Parameter omission: nil for a picture that will be output.
    /// - Returns: the complaint of libavcodec; nil if there is none.
    private func send(
        _ unit: borrowing ReceivedAccessUnit, countedAs omission: Omission?
    ) throws(DecoderError) -> String? {
        if !unit.role.isSecondField { latestNumber = unit.number }
        remember(unit)
        guard let session else { return nil }
        let isEntry = unit.number == entryNumber
        let complaint: String?
        do throws(DecoderError) {
            complaint = try session.send(unit, isHidden: omission != nil)
        } catch {
            try leaveHungGPU(error, isReplaced: isEntry)
            if isEntry { return try sendToSoftware(unit, countedAs: omission) }
            counters.frozen += 1
            return nil
        }
        hasComplaint = complaint != nil
        guard let complaint, isEntry, gpu != nil else {
            expect(unit, countedAs: omission, of: session)
            return complaint
        }
        // The claims of a driver may be wrong for this stream.
        giveUpGPU(because: complaint)
        counters.lost += session.pending.removeAll()
        return try sendToSoftware(unit, countedAs: omission)
    }

    /// Decodes the entry point that the GPU did not decode in software.
    /// - Returns: the complaint of libavcodec; nil if there is none.
    private func sendToSoftware(
        _ unit: borrowing ReceivedAccessUnit, countedAs omission: Omission?
    ) throws(DecoderError) -> String? {
        let software = try LibavDecoder(
            configuration, entry: unit, leastDelay: leastDelay(of: unit), on: nil)
        software.begin(amid: recovery != nil)
        (session, state) = (software, .following)
        let complaint = try software.send(unit, isHidden: omission != nil)
        hasComplaint = complaint != nil
        expect(unit, countedAs: omission, of: software)
        return complaint
    }

    /// Abandons a driver in which a thread hangs, and its session: neither is used again, and their resources
    /// are leaked. Software begins at the next entry point.
    /// - Parameter isReplaced: whether software begins at once.
    private func leaveHungGPU(_ error: DecoderError, isReplaced: Bool = false) throws(DecoderError) {
        guard case .driverHangs = error.kind else { throw error }
        hasHungThread = true
        giveUpGPU(because: "its driver is not responding")
        let lostCount = [former, session].reduce(0) { $0 + ($1?.pending.removeAll() ?? 0) }
        counters.lost += lostCount
        (former, session) = (nil, nil)
        history.forget()
        state = .frozen(from: latestNumber)
        if !isReplaced || lostCount > 0 { noteLoss("the GPU's driver is not responding") }
    }

    /// Records an access unit that a session accepted: its picture will come out unless the stream hides it.
    private func expect(
        _ unit: borrowing ReceivedAccessUnit, countedAs omission: Omission?,
        of session: LibavDecoder
    ) {
        let role = unit.role
        let isWithheld = !role.isForOutput || role.isSkippedLeading && dropsLeading
        switch omission ?? (isWithheld ? .withheld : nil) {
        case .beforeEntry: counters.beforeEntry += 1
        case .frozen: counters.frozen += 1
        case .withheld: counters.withheld += 1
        case nil: session.pending.add(unit.number, isSecondField: role.isSecondField)
        }
    }

    /// Keeps the access unit in case a decoder has to be restored from it.
    private func remember(_ unit: borrowing ReceivedAccessUnit) {
        guard configuration.delay == .low, configuration.codec == .h264 else { return }
        if unit.isEntryPoint, entriesToSkip > 0 {
            entriesToSkip -= 1
            history.forget()
        } else {
            history.append(unit)
        }
    }

    private func giveUpGPU(because reason: String) {
        if let gpu { softwareReasons = ["\(gpu.node): \(reason)"] }
        gpu = nil
    }

    /// Returns a picture in memory; nil if it must not be output.
    private func admit(
        _ picture: consuming DecodedPicture, of session: LibavDecoder
    ) throws(DecoderError) -> DecodedPicture? {
        let number = picture.number
        if case .frozen(let first) = state, former == nil, number >= first { return nil }
        if damaged.contains(number) { return nil }
        let unitCount = session.pending.remove(number)
        // libavcodec may output a picture twice.
        if number == numberHandedOn || unitCount == 0 { return nil }
        guard let connection = session.connection, picture.isOnGPU else {
            count(unitCount)
            return picture
        }
        do throws(DecoderError) {
            if let copy = try memory.download(picture, through: connection) {
                count(unitCount)
                return copy
            }
        } catch {
            counters.frozen += unitCount
            try leaveHungGPU(error)
            return nil
        }
        giveUpGPU(because: "a picture could not be read")
        if !isFrozen { lose(from: number, "a picture could not be read from the GPU") }
        counters.frozen += unitCount
        return nil
    }

    /// Counts a delivered picture and its access units.
    private func count(_ unitCount: Int) {
        counters.decoded += 1
        counters.secondFields += max(0, unitCount - 1)
    }
}

extension DecompressionSession {
    // MARK: Losses

    private func noteLoss(_ reason: String) {
        counters.losses += 1
        lastLoss = reason
    }

    /// Records a loss: pictures from this access unit up to the next entry point cannot be trusted.
    private func lose(from number: Int, _ reason: String) {
        noteLoss(reason)
        guard configuration.lossPolicy == .freeze else { return }
        if number < entryNumber {
            damaged = number..<entryNumber
            for session in [former, session] {
                counters.frozen += session?.pending.removeAll(in: damaged) ?? 0
            }
            return
        }
        counters.frozen += session?.pending.removeAll(from: number) ?? 0
        history.forget()
        state = .frozen(from: number)
        // Pictures held back for reordering came before the loss.
        session?.drain()
    }

    /// Records a complaint that came with or without a picture.
    /// - Parameter number: the number of the picture that libavcodec marked as damaged, if any.
    private func note(_ complaint: String, of number: Int?) {
        hasComplaint = true
        if let number {
            if !isFrozen || number < entryNumber { lose(from: number, complaint) }
        } else if former == nil, !isFrozen {
            lose(from: latestNumber, complaint)
        }
    }

    /// Counts missing pictures that a session should have output by now.
    private func noteMissing(in session: LibavDecoder) {
        let missing = session.pending.removeOldest(beyond: session.pendingLimit)
        guard missing > 0 else { return }
        counters.lost += missing
        // Counted as a loss already, by libavcodec's complaint.
        if hasComplaint { return }
        noteLoss("libavcodec dropped \(missing == 1 ? "a picture" : "\(missing) pictures")")
        guard !session.isDraining, let reordering = session.reordering, reordering.maximumDepth > 0 else {
            return
        }
        guard reordering.declaredDepth != nil else {
            // libavcodec holds back more pictures from here on.
            lastLoss =
                "a picture arrived after a later one, and the stream does not declare its order"
            return
        }
        guard session.raiseDelay() else { return }
        hasBrokenOrder = true
        lastLoss = "a picture arrived after a later one, in an order that the stream does not declare"
    }
}
