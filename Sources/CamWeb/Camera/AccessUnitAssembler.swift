import Bitstream
import CamPlatform

/// Assembles a live Annex B stream, in chunks of any size, into access units of the guaranteed shape.
///
/// The end of a picture is certain only when the next picture begins, one frame later. Senders write a
/// picture at once, so a pause counts as the end, too. If the picture continues after all, the assembler
/// drops pictures until the next keyframe and increments `splitCount`: the caller should wait longer. Memory
/// is bounded, and any input is safe.
///
/// Use it in one thread.
final class AccessUnitAssembler {
    private var parser: AnnexBParser
    private var assembly: PictureAssembly
    private let codec: Codec

    /// The default for the largest accepted picture, in bytes.
    static let defaultByteLimit = 16 << 20

    /// Creates an assembler at the start of a stream.
    init(codec: Codec, byteLimit: Int = AccessUnitAssembler.defaultByteLimit) {
        self.codec = codec
        parser = AnnexBParser(maximumUnitByteCount: byteLimit)
        assembly = PictureAssembly(codec: codec, byteLimit: byteLimit)
    }

    /// The number of pictures that continued after a pause.
    var splitCount: Int { assembly.splitCount }

    /// Whether a picture arrived that is shown before an earlier one.
    var isReordered: Bool { assembly.isReordered }

    /// Adds the next bytes, and calls `body` for each picture that has ended.
    func add(_ chunk: RawSpan, arrival: Instant, _ body: (AccessUnit) -> Void) {
        parser.parse(chunk) { result, nalUnit in assembly.add(result, nalUnit, arrival: arrival, body) }
        parser.withPendingBytes { _, nalUnit in assembly.peek(nalUnit, body) }
    }

    /// Records a pause: the current picture is probably complete.
    func pause(arrival: Instant, _ body: (AccessUnit) -> Void) {
        var isSlice = false
        parser.withPendingBytes { _, nalUnit in
            isSlice = NALUnitHeader(of: nalUnit, codec: codec)?.isSlice ?? false
        }
        guard isSlice, !assembly.isUndecided else { return }
        parser.finish { result, nalUnit in assembly.add(result, nalUnit, arrival: arrival, body) }
        assembly.deliverEarly(body)
    }

    /// Ends the stream after a whole picture.
    func finish(arrival: Instant, _ body: (AccessUnit) -> Void) {
        parser.finish { result, nalUnit in assembly.add(result, nalUnit, arrival: arrival, body) }
        assembly.finish(body)
    }
}

// MARK: Pictures

/// Assembles NAL units into pictures of the guaranteed shape, and drops pictures that cannot be decoded.
struct PictureAssembly {
    private let byteLimit: Int
    private var detector: AccessUnitDetector
    private var shaper: StreamShaper
    private var orderCounter = PictureOrderCounter()
    /// The order count of the current picture, and the highest in its sequence; nil before the first slice.
    private var order: Int?
    private var highestOrder: Int?
    /// The current picture's NAL units, as Annex B.
    private var bytes: [UInt8] = []
    /// Units that belong to the picture of the next unit.
    private var undecided: [UInt8] = []
    /// Whether a part of the current picture is missing.
    private var isDamaged = false
    /// Whether the current picture was delivered before its end was certain.
    private var isDelivered = false
    private var number = 0
    /// When the first unit of the current picture was complete.
    private var arrival = Instant.start
    /// The number of pictures that continued after their delivery.
    private(set) var splitCount = 0
    /// Whether a picture arrived that is shown before an earlier one.
    private(set) var isReordered = false

    init(codec: Codec, byteLimit: Int) {
        self.byteLimit = byteLimit
        detector = AccessUnitDetector(codec: codec)
        // Each picture is copied before the next one is shaped.
        shaper = StreamShaper(pool: AccessUnitPool(codec: codec, limit: 1))
    }

    /// Whether the next unit decides to which picture an earlier one belongs.
    var isUndecided: Bool { !undecided.isEmpty }

    /// Adds the next unit of the parser.
    mutating func add(
        _ result: Result<AnnexBParser.Unit, AnnexBError>, _ nalUnit: RawSpan, arrival: Instant,
        _ body: (AccessUnit) -> Void
    ) {
        switch result {
        case .success: place(nalUnit, arrival: arrival, body)
        case .failure(let error) where error.reason == .emptyUnit: break
        case .failure: noteMissingPart()
        }
    }

    /// Delivers the current picture if an incomplete unit begins another picture.
    mutating func peek(_ nalUnit: RawSpan, _ body: (AccessUnit) -> Void) {
        guard !bytes.isEmpty, undecided.isEmpty, !nalUnit.isEmpty,
            detector.peek(nalUnit.extracting(first: Self.peekLength)) == .begins
        else { return }
        deliver(body)
    }

    /// The bytes of a slice header in which the first slice of a picture shows, and some more.
    private static let peekLength = 64

    /// Delivers the current picture, assuming that its last unit is complete.
    mutating func deliverEarly(_ body: (AccessUnit) -> Void) {
        deliver(body)
        isDelivered = true
    }

    /// Delivers the last picture of the stream.
    mutating func finish(_ body: (AccessUnit) -> Void) {
        append(undecided)
        undecided.removeAll()
        deliver(body)
    }

    private mutating func place(_ nalUnit: RawSpan, arrival: Instant, _ body: (AccessUnit) -> Void) {
        switch detector.next(nalUnit) {
        case .undecided:
            guard undecided.count + nalUnit.byteCount < byteLimit else { return noteMissingPart() }
            undecided.append(startCodeBefore: nalUnit)
            return
        case .begins:
            deliver(body)
            (self.arrival, order) = (arrival, nil)
        case .continues:
            if isDelivered {
                if isSlice(nalUnit) { noteMissingPart() }
                return
            }
        }
        if order == nil, isSlice(nalUnit) { noteOrder(of: nalUnit) }
        append(undecided)
        undecided.removeAll(keepingCapacity: true)
        guard bytes.count + nalUnit.byteCount < byteLimit else { return noteMissingPart() }
        bytes.append(startCodeBefore: nalUnit)
    }

    private func isSlice(_ nalUnit: RawSpan) -> Bool {
        NALUnitHeader(of: nalUnit, codec: detector.parameterSets.codec)?.isSlice ?? false
    }

    private mutating func noteOrder(of slice: RawSpan) {
        guard let next = orderCounter.next(slice, detector.parameterSets) else { return }
        if let highestOrder, !next.beginsSequence, next.count < highestOrder { isReordered = true }
        (order, highestOrder) = (
            next.count, next.beginsSequence ? next.count : max(next.count, highestOrder ?? .min)
        )
    }

    private mutating func append(_ units: [UInt8]) {
        if bytes.count + units.count > byteLimit { noteMissingPart() } else { bytes += units }
    }

    /// Records a loss. Later pictures may refer to the missing part.
    private mutating func noteMissingPart() {
        if isDelivered {
            splitCount += 1
            shaper.expectIDR()
        } else {
            isDamaged = true
        }
    }

    private mutating func deliver(_ body: (AccessUnit) -> Void) {
        defer {
            bytes.removeAll(keepingCapacity: bytes.count <= Self.retainedByteCount)
            (isDamaged, isDelivered) = (false, false)
        }
        guard !isDelivered, !bytes.isEmpty || isDamaged else { return }
        guard !isDamaged else { return shaper.expectIDR() }
        guard let unit = shape() else { return }
        number += 1
        body(unit)
    }

    /// - Returns: nil for units without a picture, and for a picture that cannot be decoded.
    private mutating func shape() -> AccessUnit? {
        let packet = bytes
        do throws(StreamShapeError) {
            return try shaper.shape(
                packet.span.bytes, frameNumber: number, sequence: 0, timestamp: arrival)
        } catch {
            shaper.expectIDR()
            return nil
        }
    }

    /// Memory that is kept for the next picture; more than most keyframes take.
    private static let retainedByteCount = 1 << 20
}

extension [UInt8] {
    fileprivate mutating func append(startCodeBefore nalUnit: RawSpan) {
        self += [0, 0, 0, 1]
        nalUnit.withUnsafeBytes { self += $0 }
    }
}
