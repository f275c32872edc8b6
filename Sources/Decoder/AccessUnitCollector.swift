import Bitstream
import CFFmpeg
import CamPlatform
import Glibc

/// Assembles NAL units into access units.
struct AccessUnitCollector: ~Copyable {
    private let byteLimit: Int
    private var detector: AccessUnitDetector
    private var gapDetector = FrameNumberGapDetector()
    private var orderCounter = PictureOrderCounter()
    private var parameterSets: ParameterSets
    /// The parameter sets without those that refer to a missing one.
    private var usableSets: ParameterSets
    /// The format in the latest sequence parameter set.
    private var format: StreamFormat?
    /// False once a sequence parameter set may make libavcodec's threads unsafe.
    private var allowsThreads = true
    private var current = PacketBuffer()
    /// Units that belong to the access unit of the next unit.
    private var undecided = PacketBuffer()
    /// A copy of the current access unit and the beginning of its last slice.
    private var anticipated = PacketBuffer()
    private var facts = Facts()
    private var number = 0

    /// More bytes than a slice header needs for the fields that show where a picture begins. Looking no
    /// further keeps the cost of a chunk constant, however many chunks a unit comes in.
    private static let peekLength = 64

    /// The facts about the current access unit.
    private struct Facts {
        var hasPicture = false
        var role = PictureRole()
        /// From the units before the picture.
        var recoveryPoint: RecoveryPoint?
        var followsGap = false
        var isIncomplete = false
        /// When its first unit arrived; nil before that.
        var arrival: Instant?

        mutating func noteSlice(
            _ slice: RawSpan, _ header: NALUnitHeader, _ detector: AccessUnitDetector,
            _ orderCounter: inout PictureOrderCounter
        ) {
            defer { hasPicture = true }
            guard !hasPicture else { return }
            role = PictureRole(of: slice, header, detector)
            role.order = orderCounter.next(slice, detector.parameterSets)?.count
            guard !role.isEntryPoint, !role.isSecondField else { return }
            role.recoveryPoint = recoveryPoint.flatMap { detector.parameterSets.allows($0) ? $0 : nil }
        }
    }

    init(codec: Codec, byteLimit: Int) {
        self.byteLimit = byteLimit
        detector = AccessUnitDetector(codec: codec)
        parameterSets = ParameterSets(codec: codec)
        usableSets = parameterSets
    }

    /// Adds the next unit of the parser.
    mutating func add<Failure: Error>(
        _ result: Result<AnnexBParser.Unit, AnnexBError>, _ nalUnit: RawSpan, arrival: Instant?,
        _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        switch result {
        case .success(let unit):
            try place(nalUnit, arrival: arrival, body) { collector in
                collector.append(nalUnit, startCodeLength: unit.startCodeLength, unit.trailingZeroCount)
            }
        case .failure(let error):
            switch error.reason {
            case .emptyUnit: break
            case .bytesOutsideUnits: facts.followsGap = true
            case .unitTooLarge: try place(nalUnit, arrival: arrival, body) { $0.facts.isIncomplete = true }
            }
        }
    }

    /// Delivers the current access unit if an incomplete unit begins another access unit.
    mutating func peek<Failure: Error>(
        _ nalUnit: RawSpan, arrival: Instant?, _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        guard current.count > 0, undecided.count == 0, !nalUnit.isEmpty else { return }
        guard detector.peek(nalUnit.extracting(first: Self.peekLength)) == .begins else { return }
        try deliver(body)
        facts.arrival = arrival
    }

    /// Delivers the current access unit as if it ended with a slice that may be incomplete.
    mutating func anticipate<Failure: Error>(
        _ slice: RawSpan, startCodeLength: Int,
        _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        guard undecided.count == 0, let header = NALUnitHeader(of: slice, codec: parameterSets.codec),
            header.isSlice
        else { return }
        // Works on copies, because the complete slice will pass through the same code again.
        var (detector, gapDetector, orderCounter, facts) = (detector, gapDetector, orderCounter, facts)
        guard detector.next(slice) == (current.count == 0 ? .begins : .continues) else { return }
        anticipated.removeAll()
        if let reference = current.reference, current.count > 0 {
            let bytes = UnsafeRawBufferPointer(start: reference.pointee.data, count: current.count)
            guard anticipated.append(bytes) else { return }
        }
        guard anticipated.append(startCodeLength: startCodeLength, slice, limit: byteLimit) else { return }
        facts.noteSlice(slice, header, detector, &orderCounter)
        if gapDetector.followsGap(slice, parameterSets: detector.parameterSets) { facts.followsGap = true }
        guard let reference = anticipated.reference else { return }
        try body(unit(facts, reference, byteCount: anticipated.count))
    }

    /// Delivers the last access unit.
    mutating func finish<Failure: Error>(
        _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        adoptUndecided()
        try deliver(body)
    }

    /// Discards the current access unit; the next one follows a loss.
    mutating func abandon() {
        current.removeAll()
        undecided.removeAll()
        facts = Facts()
        facts.followsGap = true
    }

    /// Determines the access unit of a NAL unit, and adds the unit to it.
    private mutating func place<Failure: Error>(
        _ nalUnit: RawSpan, arrival: Instant?,
        _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void,
        adding add: (inout AccessUnitCollector) -> Void
    ) throws(Failure) {
        switch detector.next(nalUnit) {
        case .undecided:
            let isKept = undecided.append(startCodeLength: 4, nalUnit, limit: byteLimit)
            if !isKept { facts.isIncomplete = true }
            return
        case .begins:
            try deliver(body)
            facts.arrival = facts.arrival ?? arrival
        case .continues: break
        }
        adoptUndecided()
        note(nalUnit)
        add(&self)
    }

    /// Records the facts that a unit reveals about its access unit.
    private mutating func note(_ nalUnit: RawSpan) {
        guard let header = NALUnitHeader(of: nalUnit, codec: parameterSets.codec) else { return }
        if header.isParameterSet, !detector.isSafeOnThreads { allowsThreads = false }
        // An unreadable set leaves the previous one in force.
        if header.isParameterSet, (try? parameterSets.insert(nalUnit)) == true {
            format = detector.parameterSets.latestFormat
            usableSets = parameterSets.withoutOrphans
        }
        if !facts.hasPicture, header.isSupplementalEnhancementInformation,
            let point = SupplementalEnhancementInformation.recoveryPoint(in: nalUnit, header.codec)
        {
            facts.recoveryPoint = point
        }
        guard header.isSlice else { return }
        facts.noteSlice(nalUnit, header, detector, &orderCounter)
        if EmulationPrevention.isBroken(in: nalUnit) { facts.isIncomplete = true }
        if gapDetector.followsGap(nalUnit, parameterSets: detector.parameterSets) {
            facts.followsGap = true
        }
    }

    private mutating func append(_ nalUnit: RawSpan, startCodeLength: Int, _ trailingZeroCount: Int) {
        let isKept = current.append(
            startCodeLength: startCodeLength, nalUnit, trailingZeroCount: trailingZeroCount,
            limit: byteLimit)
        if !isKept { facts.isIncomplete = true }
    }

    private mutating func adoptUndecided() {
        guard let reference = undecided.reference, undecided.count > 0 else { return }
        let bytes = UnsafeRawBufferPointer(start: reference.pointee.data, count: undecided.count)
        if current.count + bytes.count > byteLimit || !current.append(bytes) { facts.isIncomplete = true }
        undecided.removeAll()
    }

    private mutating func deliver<Failure: Error>(
        _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        guard let reference = current.reference, current.count > 0 else { return giveUpEmpty() }
        let unit = unit(facts, reference, byteCount: current.count)
        number += 1
        facts = Facts()
        try body(unit)
        current.removeAll()
    }

    /// Reports a loss if every NAL unit of an access unit was too large.
    private mutating func giveUpEmpty() {
        guard facts.isIncomplete else { return }
        facts = Facts()
        facts.followsGap = true
    }

    private func unit(
        _ facts: Facts, _ reference: UnsafeMutablePointer<AVBufferRef>, byteCount: Int
    ) -> ReceivedAccessUnit {
        ReceivedAccessUnit(
            number: number, hasPicture: facts.hasPicture, role: facts.role,
            followsGap: facts.followsGap, isIncomplete: facts.isIncomplete, parameterSets: usableSets,
            format: format, allowsThreads: allowsThreads,
            reordering: facts.role.allowsEntry ? detector.parameterSets.reordering : nil,
            arrival: facts.arrival, buffer: reference, byteCount: byteCount)
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
    /// Whether libavcodec may decode on several threads with the last parameter set. False for an unreadable
    /// set, which libavcodec may be able to read.
    fileprivate var isSafeOnThreads: Bool {
        let sequence = parameterSets.hevc.latestSequence
        return parameterSets.codec == .h264
            || parameterSetError == nil
                && sequence?.extensions?.range?.persistent_rice_adaptation_enabled_flag != true
    }
}

extension PacketBuffer {
    /// Adds a NAL unit with the bytes around it in the stream.
    /// - Returns: false if it does not fit into the limit or there is no memory.
    fileprivate mutating func append(
        startCodeLength: Int, _ nalUnit: RawSpan, trailingZeroCount: Int = 0, limit: Int
    ) -> Bool {
        let length = startCodeLength + nalUnit.byteCount
        guard count + length + trailingZeroCount <= limit else { return false }
        return append(zeros: startCodeLength - 1)
            && nalUnit.withUnsafeBytes { bytes in
                withUnsafeBytes(of: UInt8(1)) { append($0) } && append(bytes)
            } && append(zeros: trailingZeroCount)
    }
}

// MARK: Memory for libavcodec

/// A contiguous packet for libavcodec, with the padding that libavcodec reads beyond the end, in memory with
/// a reference count. The memory is reused when nothing else refers to it.
struct PacketBuffer: ~Copyable {
    /// Nil until the first bytes are added.
    private(set) var reference: UnsafeMutablePointer<AVBufferRef>?
    /// Number of bytes, without the padding.
    private(set) var count = 0

    private static let paddingLength = Int(AV_INPUT_BUFFER_PADDING_SIZE)

    deinit {
        var reference = reference
        av_buffer_unref(&reference)
    }

    private mutating func release() { av_buffer_unref(&reference) }

    /// Number of bytes that fit before the memory grows.
    private var capacity: Int { reference.map { Int($0.pointee.size) - Self.paddingLength } ?? 0 }

    /// Adds bytes.
    /// - Returns: false if there is no memory; the buffer is unchanged then.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let room = makeRoom(for: bytes.count) else { return false }
        room.copyMemory(from: bytes)
        return true
    }

    /// Adds zeros.
    mutating func append(zeros zeroCount: Int) -> Bool {
        guard let room = makeRoom(for: zeroCount) else { return false }
        room.initializeMemory(as: UInt8.self, repeating: 0)
        return true
    }

    /// Discards all bytes, and also the memory if a decoder still refers to it.
    mutating func removeAll() {
        count = 0
        if let held = reference, av_buffer_is_writable(held) == 0 { release() }
    }
}

extension PacketBuffer {
    /// Makes room for more bytes at the end, and pads.
    private mutating func makeRoom(for byteCount: Int) -> UnsafeMutableRawBufferPointer? {
        guard reserve(count + byteCount), let start = reference?.pointee.data else { return nil }
        let room = UnsafeMutableRawBufferPointer(start: start + count, count: byteCount)
        count += byteCount
        // In bounds: the memory is larger than its capacity by the padding.
        UnsafeMutableRawBufferPointer(start: start + count, count: Self.paddingLength)
            .initializeMemory(as: UInt8.self, repeating: 0)
        return room
    }

    private mutating func reserve(_ wanted: Int) -> Bool {
        guard wanted > capacity else { return true }
        let grown = max(wanted, capacity + capacity / 2, 64 << 10) + Self.paddingLength
        guard let allocated = av_buffer_alloc(grown) else { return false }
        if let reference { memcpy(allocated.pointee.data, reference.pointee.data, count) }
        release()
        reference = allocated
        return true
    }
}
