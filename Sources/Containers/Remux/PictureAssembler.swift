import Bitstream
import CamPlatform

/// Assembles NAL units into pictures.
struct PictureAssembler {
    typealias Body = (StreamPiece) throws(RemuxError) -> Void

    private let path: String
    private var detector: AccessUnitDetector
    private var counter = PictureOrderCounter()
    private var shaper: StreamShaper
    /// The current access unit, which may be a field.
    private var current = Gathered()
    /// The previous access unit, until it is known that `current` is not its second field.
    private var complete = Gathered()
    /// Units whose access unit is not known yet.
    private var undecided = Gathered()
    private var number = 0
    /// Pictures that are left out, after the first decodable one.
    private(set) var damage = StreamDamage()
    /// The order of the previous picture.
    private var latestOrder: PictureOrderCounter.Order?

    /// NAL units as Annex B, with the properties of their first slice.
    private final class Gathered {
        var bytes: [UInt8] = []
        var offset = 0
        var time: Duration?
        var order: PictureOrderCounter.Order?
        var isSecondField = false
        var hasPicture = false
        /// Whether `forbidden_zero_bit` was set in a unit.
        var isDamaged = false

        func append(_ nalUnit: RawSpan, at offset: Int, time: Duration?) {
            if bytes.isEmpty { (self.offset, self.time) = (offset, time) }
            bytes += [0, 0, 0, 1]
            nalUnit.withUnsafeBytes { bytes += $0 }
        }

        func append(_ other: Gathered) {
            if bytes.isEmpty { (offset, time) = (other.offset, other.time) }
            bytes += other.bytes
            order = order ?? other.order
            hasPicture = hasPicture || other.hasPicture
            isDamaged = isDamaged || other.isDamaged
        }

        func removeAll() {
            bytes.removeAll(keepingCapacity: true)
            (order, isSecondField, time) = (nil, false, nil)
            (hasPicture, isDamaged) = (false, false)
        }
    }

    init(codec: Codec, path: String) {
        self.path = path
        detector = AccessUnitDetector(codec: codec)
        // The pool holds all pictures that wait for their number.
        shaper = StreamShaper(pool: AccessUnitPool(codec: codec, limit: PictureQueue.limit + 1))
    }

    /// Takes the next NAL unit of the stream.
    /// - Parameters:
    ///   - offset: the unit's position, for messages about streams without times.
    ///   - time: the picture's time; the time of its first unit counts.
    mutating func add(
        _ nalUnit: RawSpan, at offset: Int, time: Duration? = nil, _ body: Body
    ) throws(RemuxError) {
        guard NALUnitHeader(of: nalUnit, codec: detector.parameterSets.codec)?.forbidden_zero_bit == true
        else { return try place(nalUnit, at: offset, time: time, body) }
        // The rest of the unit shows which picture is damaged.
        var mended = nalUnit.withUnsafeBytes { Array($0) }
        mended[0] &= 0x7F
        try place(mended.span.bytes, at: offset, time: time, body)
        (undecided.bytes.isEmpty ? current : undecided).isDamaged = true
    }

    private mutating func place(
        _ nalUnit: RawSpan, at offset: Int, time: Duration?, _ body: Body
    ) throws(RemuxError) {
        switch detector.next(nalUnit) {
        case .undecided:
            try append(nalUnit, at: offset, time, to: undecided)
        case .begins:
            try endCurrent(body)
            try extendCurrent(by: nalUnit, at: offset, time)
        case .continues:
            try extendCurrent(by: nalUnit, at: offset, time)
        }
    }

    mutating func finish(_ body: Body) throws(RemuxError) {
        current.append(undecided)
        try endCurrent(body)
        try deliver(body)
    }

    private mutating func extendCurrent(
        by nalUnit: RawSpan, at offset: Int, _ time: Duration?
    ) throws(RemuxError) {
        current.append(undecided)
        undecided.removeAll()
        try append(nalUnit, at: offset, time, to: current)
        let isSlice = NALUnitHeader(of: nalUnit, codec: detector.parameterSets.codec)?.isSlice ?? false
        if isSlice { current.hasPicture = true }
        if isSlice, current.order == nil {
            current.order = counter.next(nalUnit, detector.parameterSets)
            current.isSecondField = detector.isSecondField
        }
    }

    private func append(
        _ nalUnit: RawSpan, at offset: Int, _ time: Duration?, to units: Gathered
    ) throws(RemuxError) {
        units.append(nalUnit, at: offset, time: time)
        guard units.bytes.count <= RawStream.maximumByteCount else {
            throw malformed("it has more than \(RawStream.maximumByteCount) bytes", in: units)
        }
    }

    /// Ends the current access unit. The previous one is then complete, too,
    /// unless both are fields of one frame.
    private mutating func endCurrent(_ body: Body) throws(RemuxError) {
        if current.isSecondField {
            complete.append(current)
        } else {
            try deliver(body)
            swap(&complete, &current)
        }
        current.removeAll()
    }

    private mutating func deliver(_ body: Body) throws(RemuxError) {
        let complete = complete
        defer { complete.removeAll() }
        guard !complete.bytes.isEmpty else { return }
        if complete.isDamaged { return try leaveOut(complete, .forbiddenZeroBit, body) }
        let unit: AccessUnit?
        do throws(StreamShapeError) {
            unit = try shaper.shape(
                complete.bytes.span.bytes, frameNumber: number, sequence: 0, timestamp: .start)
        } catch {
            return try leaveOut(complete, error.rule, body)
        }
        // Units without a picture, such as parameter sets at the end of the file.
        guard let unit else { return }
        guard let order = complete.order else {
            noteDamage(to: complete, "its slice cannot be read")
            return try passOver(complete, body)
        }
        if unit.isIDR { damage.end() }
        number += 1
        latestOrder = order
        try body(.picture(StreamPicture(unit: unit, order: order, time: complete.time)))
    }

    /// Leaves out a picture because of damage in it or before it, or because it precedes the first IDR
    /// picture.
    private mutating func leaveOut(
        _ picture: Gathered, _ rule: StreamShapeError.Rule, _ body: Body
    ) throws(RemuxError) {
        if rule != .startsWithoutIDR {
            guard rule.isDamage else { throw malformed("\(rule)", in: picture) }
            noteDamage(to: picture, "\(rule)")
        }
        try passOver(picture, body)
    }

    private mutating func noteDamage(to picture: Gathered, _ problem: String) {
        let place = place(of: picture)
        damage.begin("the picture at \(place): \(problem)")
        shaper.expectIDR()
    }

    private mutating func passOver(_ picture: Gathered, _ body: Body) throws(RemuxError) {
        // Units without a picture occupy no time.
        guard picture.hasPicture else { return }
        guard let latestOrder else { return try body(.undecodable) }
        damage.leaveOut()
        // A picture whose order cannot be read follows the previous one.
        let order =
            picture.order
            ?? PictureOrderCounter.Order(count: latestOrder.count &+ 1, beginsSequence: false)
        try body(.picture(StreamPicture(unit: nil, order: order, time: picture.time)))
    }

    private func place(of picture: Gathered) -> String {
        picture.time.map { "\($0.inSeconds) s" } ?? "offset \(picture.offset)"
    }

    private func malformed(_ problem: String, in picture: Gathered) -> RemuxError {
        .input(
            InputError(
                .malformed(
                    "the picture at \(place(of: picture)): \(problem); camplay shows it, ffmpeg -c copy copies it"
                ),
                input: path))
    }
}

extension StreamShapeError.Rule {
    /// Whether the bytes are damaged, as opposed to a stream of the wrong kind.
    fileprivate var isDamage: Bool {
        switch self {
        case .unsupportedUnit, .mixedSlices, .tooManyUnits, .startsWithoutIDR, .missingParameterSets,
            .parameterSetsChangedWithoutIDR, .amendmentFailed, .amendmentChangedIDs:
            false
        default: true
        }
    }
}
